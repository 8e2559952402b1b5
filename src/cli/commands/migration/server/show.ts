/** `migration server show`: shows a server and its databases. */

import { propertyOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { member } from '../../../directory.ts'
import { groupOptions } from '../../../group-place.ts'
import { migrationQuery, serverPath } from '../../../migrations.ts'
import { printRecord } from '../../../output/print.ts'
import { defineRemoteCommand } from '../../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration server show',
  summary: 'Show a PostgreSQL server and its databases',
  arguments: [{ name: 'name', summary: 'The name of the server' }],
  options: groupOptions,
  examples: ['migration server show shop -g demo'],
  async run(connection, values, context) {
    const { client } = connection
    const path = await serverPath(connection, values, values.name)
    const { body } = await client.request('GET', path, { query: migrationQuery })
    if (context.terminal.output.isData || !isJsonObject(body)) {
      printRecord(context.terminal, body)
      return 0
    }
    // The databases of a server that does not answer are unknown.
    const isReady = propertyOf(body, 'state') === 'Ready'
    const databases = isReady
      ? await client.list(`${path}/databases`, { query: migrationQuery })
      : []
    const { name, sku, properties } = body
    printRecord(context.terminal, {
      name,
      sku,
      ...(isJsonObject(properties) ? properties : {}),
      databases: isReady ? databases.map(member('name')).join(', ') : undefined,
    })
  },
})
