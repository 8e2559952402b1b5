/** `clock stop`: stops the installation's time. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'clock stop',
  summary: 'Stop the clock; it is moved by hand from then on',
  arguments: [],
  options: connectionOptions,
  examples: ['clock stop'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('PATCH', '/_armature/clock', { body: { rate: 0 } })
    printRecord(context.terminal, body)
    return 0
  },
})
