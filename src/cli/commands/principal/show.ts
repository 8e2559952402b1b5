/** `principal show`: shows a principal of any type. */

import { findPrincipal } from '../../directory.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'principal show',
  summary: 'Show one principal',
  arguments: [{ name: 'id', summary: 'The principal’s object id' }],
  options: {},
  examples: ['principal show 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run({ client }, values, context) {
    const { principal } = await findPrincipal(client, values.id)
    printRecord(context.terminal, principal)
  },
})
