/** `principal delete`: deletes a principal with its memberships and credentials. */

import { findPrincipal } from '../../directory.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'principal delete',
  summary: 'Delete a principal with its memberships and credentials',
  arguments: [{ name: 'id', summary: 'The principal’s object id' }],
  options: {},
  examples: ['principal delete 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  confirm: async (_, { id }) => ({
    text: `Delete the principal ${id}, its memberships and credentials?`,
  }),
  async run({ client }, values, context) {
    const { path } = await findPrincipal(client, values.id)
    await client.request('DELETE', path)
    context.terminal.error(`Deleted ${values.id}.\n`)
  },
})
