/** `migration server remove`: removes the registration of a server. The server itself does not change. */

import { type Command, defineCommand } from '../../../command.ts'
import { groupOptions } from '../../../group-place.ts'
import { migrationQuery, serverPath } from '../../../migrations.ts'
import { connectionOptions } from '../../../options.ts'

export const command: Command = defineCommand({
  name: 'migration server remove',
  summary: 'Forget a registered PostgreSQL server; it and its databases stay as they are',
  arguments: [{ name: 'name', summary: 'The name of the server' }],
  options: { ...groupOptions, ...connectionOptions },
  examples: ['migration server remove shop -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await serverPath(connection, values, values.name)
    const { client } = connection
    await client.waitForOperation(await client.request('DELETE', path, { query: migrationQuery }))
    return 0
  },
})
