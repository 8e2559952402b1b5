/** `migration server show`: shows a registered server and its databases. */

import { propertyOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { type Command, defineCommand } from '../../../command.ts'
import { member } from '../../../directory.ts'
import { groupOptions } from '../../../group-place.ts'
import { migrationQuery, serverPath } from '../../../migrations.ts'
import { connectionOptions } from '../../../options.ts'
import { printRecord } from '../../../output/print.ts'

export const command: Command = defineCommand({
  name: 'migration server show',
  summary: 'Show a registered PostgreSQL server and its databases',
  arguments: [{ name: 'name', summary: 'The name of the server' }],
  options: { ...groupOptions, ...connectionOptions },
  examples: ['migration server show shop -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
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
    return 0
  },
})
