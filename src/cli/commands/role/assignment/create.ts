/** `role assignment create`: assigns a role to a principal at a scope. Repeating it has no further effect. */

import { type Command, defineCommand } from '../../../command.ts'
import type { Context } from '../../../context.ts'
import { typeOfPrincipal } from '../../../directory.ts'
import { connectionOptions } from '../../../options.ts'
import { printRecord } from '../../../output/print.ts'
import { apiVersions, checkScope, extensionPath } from '../../../resource-path.ts'
import { findRoleId, lastPart } from '../../../roles.ts'
import { uuidOf } from '../../../uuid-of.ts'

export const command: Command = defineCommand({
  name: 'role assignment create',
  summary: 'Grant a role to a principal at a scope and below',
  notes:
    () => `The name of the assignment is made from scope, role and assignee when left out, so that
the same command twice is one assignment.`,
  arguments: [],
  options: {
    scope: {
      type: 'string',
      value: 'path',
      required: true,
      summary: 'Where: `/`, or the path of a subscription, a resource group, or a resource',
    },
    role: {
      type: 'string',
      value: 'role',
      required: true,
      summary: 'Which: the name of a role, its GUID, or its whole id',
    },
    assignee: {
      type: 'string',
      value: 'id',
      required: true,
      summary: 'Who: the object id of a user, a group, or a service principal',
    },
    'assignee-type': {
      type: 'string',
      value: 'type',
      choices: ['User', 'Group', 'ServicePrincipal', 'ForeignGroup', 'Device'],
      summary: 'For those whom the directory does not know; looked up when left out',
    },
    name: { type: 'string', value: 'guid', summary: 'The name of the assignment' },
    description: { type: 'string', value: 'text', summary: 'Why' },
    condition: {
      type: 'string',
      value: 'text',
      summary: 'Grant only if this holds (version 2.0); `@file` or `-` reads it from there',
    },
    ...connectionOptions,
  },
  examples: [
    'role assignment create --scope /subscriptions/$S/resourceGroups/demo --role Reader --assignee $ID',
  ],
  async run(context, values) {
    const scope = checkScope(values.scope)
    const { client, words } = context.connect(values)
    const roleDefinitionId = await findRoleId(client, words, values.scope, values.role)
    const assignee = values.assignee.toLowerCase()
    const name =
      values.name ?? uuidOf(`${scope.toLowerCase()}|${lastPart(roleDefinitionId)}|${assignee}`)
    const type = values['assignee-type'] ?? (await typeOfPrincipal(client, assignee))
    const path = extensionPath(words, values.scope, 'Authorization/roleAssignments')
    const condition = await conditionOf(context, values.condition)
    const { body } = await client.request('PUT', `${path}/${encodeURIComponent(name)}`, {
      query: { 'api-version': apiVersions.roleAssignments },
      body: {
        properties: {
          roleDefinitionId,
          principalId: assignee,
          ...(type === undefined ? {} : { principalType: type }),
          ...(values.description === undefined ? {} : { description: values.description }),
          ...(condition === undefined ? {} : { condition, conditionVersion: '2.0' }),
        },
      },
    })
    printRecord(context.terminal, body)
    return 0
  },
})

/** A condition often begins with an attribute, so `@` alone does not mean a file. */
function conditionOf(context: Context, given: string | undefined): Promise<string> | undefined {
  if (given === undefined) return undefined
  const isAttribute = /^@(?:resource|request|principal|environment)\[/i.test(given)
  return isAttribute ? Promise.resolve(given) : context.readText(given)
}
