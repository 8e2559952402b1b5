/** `migration server list`: lists the PostgreSQL servers of a resource group. */

import { propertyOf } from '#client/resource.ts'
import { member } from '../../../directory.ts'
import { groupOptions } from '../../../group-place.ts'
import { migrationQuery, numberAt } from '../../../migrations.ts'
import { printRows } from '../../../output/print.ts'
import { defineRemoteCommand } from '../../../remote-command.ts'
import { extensionPath, resourceGroupPath, subscriptionOf } from '../../../resource-path.ts'

export const command = defineRemoteCommand({
  name: 'migration server list',
  summary: 'List PostgreSQL servers',
  arguments: [],
  options: groupOptions,
  examples: ['migration server list -g demo'],
  async run(connection, values, context) {
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
  },
})

function portOf(row: unknown): string {
  // The items of the server's list are objects.
  const { properties } = row as { readonly properties?: unknown }
  return String(numberAt(properties, 'port'))
}
