/** `clock advance`: advances the clock, and runs what comes due on the way. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'clock advance',
  summary: 'Let time pass at once, with all that comes due on the way',
  arguments: [{ name: 'span', summary: 'How much: 90s, 2h, 1d12h, PT2H' }],
  options: {},
  examples: ['clock advance 2h', 'clock advance 1d12h'],
  async run({ client }, values, context) {
    const { body } = await client.request('POST', '/_armature/clock/advance', {
      body: { by: values.span },
    })
    printRecord(context.terminal, body)
  },
})
