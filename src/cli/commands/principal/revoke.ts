/** `principal revoke`: ends all tokens and sessions of a principal from the next request on. */

import { findPrincipal } from '../../directory.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'principal revoke',
  summary: 'End all tokens and sessions of a principal at once; its password and secrets stay good',
  arguments: [{ name: 'id', summary: 'The principal’s object id' }],
  options: {},
  examples: ['principal revoke 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run({ client }, values) {
    const { path } = await findPrincipal(client, values.id)
    await client.request('POST', `${path}/revoke`)
  },
})
