/** `role assignment delete`: deletes an assignment, by its id or by its role, principal and scope. */

import { textOf } from '#client/answer.ts'
import { propertiesOf } from '#client/resource.ts'
import { type Command, defineCommand, LocalProblem, UsageError } from '../../../command.ts'
import type { Connection } from '../../../context.ts'
import { connectionOptions } from '../../../options.ts'
import { apiVersions, checkScope, extensionPath } from '../../../resource-path.ts'
import { findRoleId, lastPart } from '../../../roles.ts'

export const command: Command = defineCommand({
  name: 'role assignment delete',
  summary: 'Take a role away: by the id of the assignment, or by scope, role and assignee',
  arguments: [{ name: 'id', required: false, summary: 'The whole id of the assignment' }],
  options: {
    scope: { type: 'string', value: 'path', summary: 'Where it was granted' },
    role: { type: 'string', value: 'role', summary: 'The role’s name, GUID or id' },
    assignee: { type: 'string', value: 'id', summary: 'The principal’s object id' },
    ...connectionOptions,
  },
  examples: [
    'role assignment delete /subscriptions/$S/providers/Vendor.Authorization/roleAssignments/$NAME',
    'role assignment delete --scope /subscriptions/$S --role Reader --assignee $ID',
  ],
  async run(context, values) {
    const { id, scope, role, assignee } = values
    const connection = context.connect(values)
    let path = id
    if (path === undefined) {
      if (scope === undefined || role === undefined || assignee === undefined) {
        throw new UsageError('give the <id>, or `--scope`, `--role` and `--assignee`')
      }
      path = await findAssignment(connection, scope, role, assignee)
    }
    const query = { 'api-version': apiVersions.roleAssignments }
    const answer = await connection.client.request('DELETE', path, { query })
    context.terminal.error(answer.status === 204 ? 'There was none.\n' : `Deleted ${path}.\n`)
    return 0
  },
})

async function findAssignment(
  { client, words }: Connection,
  scope: string,
  role: string,
  assignee: string,
): Promise<string> {
  const wanted = lastPart(await findRoleId(client, words, scope, role))
  const path = extensionPath(words, scope, 'Authorization/roleAssignments')
  const query = {
    'api-version': apiVersions.roleAssignments,
    $filter: `atScope() and principalId eq '${assignee.replaceAll("'", "''")}'`,
  }
  const here = (checkScope(scope) || '/').toLowerCase()
  for await (const item of client.items(path, { query })) {
    const properties = propertiesOf(item)
    const sameRole = lastPart(textOf(properties, 'roleDefinitionId') ?? '') === wanted
    const sameScope = (textOf(properties, 'scope') ?? '').toLowerCase() === here
    const id = textOf(item, 'id')
    if (sameRole && sameScope && id !== undefined) return id
  }
  throw new LocalProblem(
    'RoleAssignmentNotFound',
    `${assignee} does not have the role ${role} at ${scope}.`,
  )
}
