/** `clock set`: sets the clock, and runs what comes due until then. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'clock set',
  summary: 'Set the clock to a moment, with all that comes due until then',
  arguments: [{ name: 'moment', summary: 'ISO 8601, such as 2030-01-31T12:00:00Z' }],
  options: {},
  examples: ['clock set 2030-01-31T12:00:00Z'],
  async run({ client }, values, context) {
    const { body } = await client.request('PATCH', '/_armature/clock', {
      body: { at: values.moment },
    })
    printRecord(context.terminal, body)
  },
})
