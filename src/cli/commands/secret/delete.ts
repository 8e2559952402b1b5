/** `secret delete`: deletes a secret with all its versions. */

import { defineRemoteCommand } from '../../remote-command.ts'
import { secretVersion, vaultOptions, vaultPath } from '../../secrets.ts'

export const command = defineRemoteCommand({
  name: 'secret delete',
  summary: 'Delete a secret with all its versions',
  arguments: [{ name: 'name', summary: 'The name of the secret' }],
  options: vaultOptions,
  examples: ['secret delete db-password --vault shop -g demo'],
  async run(connection, values, context) {
    const vault = await vaultPath(connection, values)
    const path = `${vault}/secrets/${encodeURIComponent(values.name)}`
    const { status } = await connection.client.request('DELETE', path, { query: secretVersion })
    context.terminal.error(status === 204 ? 'There was none.\n' : `Deleted ${values.name}.\n`)
  },
})
