/** `role assignment list`: lists the role assignments at a scope, above it, and below it. */

import { propertyOf } from '#client/resource.ts'
import { member } from '../../../directory.ts'
import { printRows } from '../../../output/print.ts'
import { defineRemoteCommand } from '../../../remote-command.ts'
import { apiVersions, extensionPath } from '../../../resource-path.ts'
import { lastPart, listRoles } from '../../../roles.ts'

export const command = defineRemoteCommand({
  name: 'role assignment list',
  summary: 'List who has which role at a scope, above it, and below it',
  arguments: [],
  options: {
    scope: { type: 'string', value: 'path', summary: 'Where; `/` when left out' },
    assignee: { type: 'string', value: 'id', summary: 'Only those of this principal' },
    'include-groups': {
      type: 'boolean',
      summary: 'With --assignee: those of the groups it is in too',
    },
    'at-scope': { type: 'boolean', summary: 'At the scope and above it, not below' },
  },
  examples: [
    'role assignment list',
    'role assignment list --scope /subscriptions/$S --assignee $ID --include-groups',
  ],
  async run({ client, words }, values, context) {
    const scope = values.scope ?? '/'
    const path = extensionPath(words, scope, 'Authorization/roleAssignments')
    const filter = [
      ...(values['at-scope'] ? ['atScope()'] : []),
      ...(values.assignee === undefined
        ? []
        : [assigneeFilter(values.assignee, values['include-groups'])]),
    ].join(' and ')
    const query = {
      'api-version': apiVersions.roleAssignments,
      $filter: filter === '' ? undefined : filter,
    }
    const rows = await client.list(path, { query })
    // Only people need the names.
    const roles =
      context.terminal.output.isData || rows.length === 0
        ? []
        : await listRoles(client, words, scope)
    const names = new Map(roles.map((role) => [lastPart(role.id), role.roleName]))
    const property = (name: string) => (row: unknown) => propertyOf(row, name)
    printRows(context.terminal, rows, [
      { title: 'PRINCIPAL', of: property('principalId') },
      { title: 'TYPE', of: property('principalType') },
      {
        title: 'ROLE',
        of: (row) => {
          const id = property('roleDefinitionId')(row)
          return names.get(lastPart(id)) ?? lastPart(id)
        },
      },
      { title: 'NAME', of: member('name') },
      { title: 'SCOPE', of: property('scope') },
    ])
  },
})

function assigneeFilter(id: string, includeGroups: boolean): string {
  const quoted = `'${id.replaceAll("'", "''")}'`
  return includeGroups ? `assignedTo(${quoted})` : `principalId eq ${quoted}`
}
