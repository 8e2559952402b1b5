/** `principal revoke`: ends all tokens and sessions of a principal from the next request on. */

import { type Command, defineCommand } from '../../command.ts'
import { findPrincipal } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'principal revoke',
  summary: 'End all tokens and sessions of a principal at once; its password and secrets stay good',
  arguments: [{ name: 'id', summary: 'The principal’s object id' }],
  options: connectionOptions,
  examples: ['principal revoke 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { path } = await findPrincipal(client, values.id)
    await client.request('POST', `${path}/revoke`)
    return 0
  },
})
