/** `migration server remove`: removes the registration of a server. The server itself does not change. */

import { groupOptions } from '../../../group-place.ts'
import { migrationQuery, serverPath } from '../../../migrations.ts'
import { defineRemoteCommand } from '../../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration server remove',
  summary: 'Forget a registered PostgreSQL server; it and its databases stay as they are',
  arguments: [{ name: 'name', summary: 'The name of the server' }],
  options: groupOptions,
  examples: ['migration server remove shop -g demo'],
  async run(connection, values) {
    const path = await serverPath(connection, values, values.name)
    const { client } = connection
    await client.waitForOperation(await client.request('DELETE', path, { query: migrationQuery }))
  },
})
