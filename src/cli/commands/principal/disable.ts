/** `principal disable`: from the next request on, a principal can neither sign in nor act. */

import { findPrincipal } from '../../directory.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'principal disable',
  summary: 'Keep a principal from signing in and acting, at once, tokens it has included',
  arguments: [{ name: 'id', summary: 'The principal’s object id' }],
  options: {},
  examples: ['principal disable 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run({ client }, values, context) {
    const { path } = await findPrincipal(client, values.id)
    const { body } = await client.request('PATCH', path, { body: { enabled: false } })
    printRecord(context.terminal, body)
  },
})
