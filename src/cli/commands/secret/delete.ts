/** `secret delete`: deletes a secret with all its versions. */

import { type Command, defineCommand } from '../../command.ts'
import { secretOptions, secretVersion, vaultPath } from '../../secrets.ts'

export const command: Command = defineCommand({
  name: 'secret delete',
  summary: 'Delete a secret with all its versions',
  arguments: [{ name: 'name', summary: 'The name of the secret' }],
  options: secretOptions,
  examples: ['secret delete db-password --vault shop -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const vault = await vaultPath(connection, values)
    const path = `${vault}/secrets/${encodeURIComponent(values.name)}`
    const { status } = await connection.client.request('DELETE', path, { query: secretVersion })
    context.terminal.error(status === 204 ? 'There was none.\n' : `Deleted ${values.name}.\n`)
    return 0
  },
})
