/** `principal disable`: from the next request on, a principal can neither sign in nor act. */

import { type Command, defineCommand } from '../../command.ts'
import { findPrincipal } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'principal disable',
  summary: 'Keep a principal from signing in and acting, at once, tokens it has included',
  arguments: [{ name: 'id', summary: 'The principal’s object id' }],
  options: connectionOptions,
  examples: ['principal disable 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { path } = await findPrincipal(client, values.id)
    const { body } = await client.request('PATCH', path, { body: { enabled: false } })
    printRecord(context.terminal, body)
    return 0
  },
})
