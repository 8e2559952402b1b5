/** `migration server list`: lists the PostgreSQL servers registered in a resource group. */

import { propertyOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../../command.ts'
import { member } from '../../../directory.ts'
import { groupOptions } from '../../../group-place.ts'
import { migrationQuery, numberAt } from '../../../migrations.ts'
import { connectionOptions } from '../../../options.ts'
import { printRows } from '../../../output/print.ts'
import { extensionPath, resourceGroupPath, subscriptionOf } from '../../../resource-path.ts'

export const command: Command = defineCommand({
  name: 'migration server list',
  summary: 'List registered PostgreSQL servers',
  arguments: [],
  options: { ...groupOptions, ...connectionOptions },
  examples: ['migration server list -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const subscription = await subscriptionOf(connection, values.subscription)
    const scope = resourceGroupPath(subscription, values['resource-group'])
    const path = extensionPath(connection.words, scope, 'DBforPostgreSQL/flexibleServers')
    const rows = await connection.client.list(path, { query: migrationQuery })
    printRows(context.terminal, rows, [
      { title: 'NAME', of: member('name') },
      { title: 'STATE', of: (row) => propertyOf(row, 'state') },
      { title: 'VERSION', of: (row) => propertyOf(row, 'version') },
      { title: 'HOST', of: (row) => propertyOf(row, 'fullyQualifiedDomainName') },
      { title: 'PORT', of: portOf },
    ])
    return 0
  },
})

function portOf(row: unknown): string {
  // The items of the server's list are objects.
  const { properties } = row as { readonly properties?: unknown }
  return String(numberAt(properties, 'port'))
}
