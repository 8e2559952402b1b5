/** `clock set`: sets the clock, and runs what comes due until then. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'clock set',
  summary: 'Set the clock to a moment, with all that comes due until then',
  arguments: [{ name: 'moment', summary: 'ISO 8601, such as 2030-01-31T12:00:00Z' }],
  options: connectionOptions,
  examples: ['clock set 2030-01-31T12:00:00Z'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('PATCH', '/_armature/clock', {
      body: { at: values.moment },
    })
    printRecord(context.terminal, body)
    return 0
  },
})
