/** `role definition list`: lists the roles that can be assigned at a scope. */

import { propertyOf } from '#client/resource.ts'
import { member } from '../../../directory.ts'
import { printRows } from '../../../output/print.ts'
import { defineRemoteCommand } from '../../../remote-command.ts'
import { apiVersions, extensionPath } from '../../../resource-path.ts'

export const command = defineRemoteCommand({
  name: 'role definition list',
  summary: 'List the roles that can be granted',
  arguments: [],
  options: {
    scope: { type: 'string', value: 'path', summary: 'Where; `/` when left out' },
    custom: { type: 'boolean', summary: 'Only those of your own making' },
  },
  examples: ['role definition list', 'role definition list --custom --json'],
  async run({ client, words }, values, context) {
    const path = extensionPath(words, values.scope ?? '/', 'Authorization/roleDefinitions')
    const query = {
      'api-version': apiVersions.roleDefinitions,
      $filter: values.custom ? "type eq 'CustomRole'" : undefined,
    }
    const rows = await client.list(path, { query })
    const property = (name: string) => (row: unknown) => propertyOf(row, name)
    printRows(context.terminal, rows, [
      { title: 'NAME', of: member('name') },
      { title: 'TYPE', of: property('type') },
      { title: 'ROLE', of: property('roleName') },
    ])
  },
})
