/** `principal enable`: lets a disabled principal sign in and act again. */

import { findPrincipal } from '../../directory.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'principal enable',
  summary: 'Let a disabled principal sign in and act again',
  arguments: [{ name: 'id', summary: 'The principal’s object id' }],
  options: {},
  examples: ['principal enable 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run({ client }, values, context) {
    const { path } = await findPrincipal(client, values.id)
    const { body } = await client.request('PATCH', path, { body: { enabled: true } })
    printRecord(context.terminal, body)
  },
})
