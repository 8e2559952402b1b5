/** `clock advance`: advances the clock, and runs what comes due on the way. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'clock advance',
  summary: 'Let time pass at once, with all that comes due on the way',
  arguments: [{ name: 'span', summary: 'How much: 90s, 2h, 1d12h, PT2H' }],
  options: connectionOptions,
  examples: ['clock advance 2h', 'clock advance 1d12h'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('POST', '/_armature/clock/advance', {
      body: { by: values.span },
    })
    printRecord(context.terminal, body)
    return 0
  },
})
