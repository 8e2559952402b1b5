/** `access who-can`: all principals whose roles allow an action at a scope, members of groups included. */

import { textOf } from '#client/answer.ts'
import type { Client } from '#client/client.ts'
import { propertiesOf } from '#client/resource.ts'
import { compilePermission } from '#kernel/action.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { collections, idOf } from '../../directory.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { apiVersions, extensionPath } from '../../resource-path.ts'
import { lastPart } from '../../roles.ts'

interface Holder {
  readonly principalId: string
  readonly type: string
  readonly name: string
  /** The groups that lead to it, from the assigned one down. */
  readonly through: string
  readonly role: string
  readonly scope: string
  readonly condition: string
}

/** The number of members listed. */
const membersMax = 1000

export const command = defineRemoteCommand({
  name: 'access who-can',
  summary: 'List who may take an action at a scope',
  notes:
    () => `An assignment with a condition is listed with it: whether it holds depends on the request.
Only what you may read yourself is shown.`,
  arguments: [{ name: 'action', summary: 'Like Vendor.Authorization/roleAssignments/write' }],
  options: {
    scope: { type: 'string', value: 'path', summary: 'Where; `/` when left out' },
  },
  examples: ['access who-can Vendor.Authorization/roleAssignments/write --scope /subscriptions/$S'],
  async run({ client, words }, values, context) {
    const scope = values.scope ?? '/'
    const action = values.action.toLowerCase()
    const query = { 'api-version': apiVersions.roleAssignments }
    const granting = new Map<string, string>()
    const definitions = extensionPath(words, scope, 'Authorization/roleDefinitions')
    for await (const role of client.items(definitions, { query })) {
      const properties = propertiesOf(role)
      const id = textOf(role, 'id')
      if (id !== undefined && allows(properties, action)) {
        granting.set(lastPart(id), textOf(properties, 'roleName') ?? lastPart(id))
      }
    }
    const holders: Holder[] = []
    const assignments = extensionPath(words, scope, 'Authorization/roleAssignments')
    const atScope = { ...query, $filter: 'atScope()' }
    for await (const assignment of client.items(assignments, { query: atScope })) {
      const properties = propertiesOf(assignment)
      const role = granting.get(lastPart(textOf(properties, 'roleDefinitionId') ?? ''))
      const principalId = textOf(properties, 'principalId')
      if (role === undefined || principalId === undefined) continue
      const held = {
        role,
        scope: textOf(properties, 'scope') ?? '',
        condition: (textOf(properties, 'condition') ?? '').replace(/\s+/g, ' '),
      }
      const type = textOf(properties, 'principalType') ?? ''
      const principal = { principalId, type, name: await nameOf(client, principalId, type) }
      holders.push({ ...principal, through: '', ...held })
      if (type === 'Group') {
        const below = await membersOf(client, principalId, membersMax)
        holders.push(...below.map((one) => ({ ...one, ...held })))
      }
    }
    printRows(context.terminal, holders, [
      { title: 'PRINCIPAL', of: (holder) => holder.principalId },
      { title: 'TYPE', of: (holder) => holder.type },
      { title: 'NAME', of: (holder) => holder.name },
      { title: 'THROUGH', of: (holder) => holder.through },
      { title: 'ROLE', of: (holder) => holder.role },
      { title: 'AT', of: (holder) => holder.scope },
      { title: 'ONLY IF', of: (holder) => holder.condition },
    ])
  },
})

function allows(properties: unknown, action: string): boolean {
  const permissions = isJsonObject(properties) ? properties['permissions'] : undefined
  if (!Array.isArray(permissions)) return false
  return permissions.some((permission) => {
    if (!isJsonObject(permission)) return false
    const { actions, notActions } = permission
    return compilePermission(texts(actions), texts(notActions))(action)
  })
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

async function nameOf(client: Client, id: string, type: string): Promise<string> {
  const collection = collections[type]
  if (collection === undefined) return ''
  const answer = await client.send('GET', `${collection}/${encodeURIComponent(id)}`)
  return answer.status === 200 ? (textOf(answer.body, 'displayName') ?? '') : ''
}

/** All members below a group, each once. Groups may contain groups, and cycles end. */
async function membersOf(
  client: Client,
  groupId: string,
  max: number,
): Promise<readonly Pick<Holder, 'principalId' | 'type' | 'name' | 'through'>[]> {
  const seen = new Set([groupId])
  const found: Pick<Holder, 'principalId' | 'type' | 'name' | 'through'>[] = []
  const groups = [groupId]
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const path = `/directory/groups/${encodeURIComponent(group)}/members`
    const first = await client.send('GET', path)
    // A group of another directory, or one that the caller may not read.
    if (first.status !== 200) continue
    for await (const member of client.items(path)) {
      const id = idOf(member)
      if (seen.has(id)) continue
      seen.add(id)
      const type = textOf(member, 'type') ?? ''
      const name = textOf(member, 'displayName') ?? ''
      found.push({ principalId: id, type, name, through: group })
      if (type === 'Group') groups.push(id)
      if (found.length >= max) return found
    }
  }
  return found
}
