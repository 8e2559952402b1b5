/** `principal set-password`: sets a user's password, and ends the sessions of the old one. */

import { passwordForms, readPassword } from '../../password.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'principal set-password',
  summary: 'Set a user’s password and end the user’s sessions',
  arguments: [{ name: 'id', summary: 'The user’s object id' }],
  options: {
    password: { type: 'string', value: 'where', summary: `The new password: ${passwordForms}` },
  },
  examples: ['principal set-password 1b4e28ba-2fa1-41d2-883f-0016d3cca427 --password -'],
  async run(connection, values, context) {
    const { client } = connection
    const password = await readPassword(context, 'password', values.password)
    const path = `/directory/users/${encodeURIComponent(values.id)}/setPassword`
    await client.request('POST', path, { body: { password } })
    context.terminal.error('The password is set.\n')
  },
})
