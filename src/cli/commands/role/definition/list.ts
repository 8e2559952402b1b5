/** `role definition list`: lists the roles that can be assigned at a scope. */

import { propertyOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../../command.ts'
import { member } from '../../../directory.ts'
import { connectionOptions } from '../../../options.ts'
import { printRows } from '../../../output/print.ts'
import { apiVersions, extensionPath } from '../../../resource-path.ts'

export const command: Command = defineCommand({
  name: 'role definition list',
  summary: 'List the roles that can be granted',
  arguments: [],
  options: {
    scope: { type: 'string', value: 'path', summary: 'Where; `/` when left out' },
    custom: { type: 'boolean', summary: 'Only those of your own making' },
    ...connectionOptions,
  },
  examples: ['role definition list', 'role definition list --custom --json'],
  async run(context, values) {
    const { client, words } = context.connect(values)
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
    return 0
  },
})
