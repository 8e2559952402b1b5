/** `clock stop`: stops the installation's time. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'clock stop',
  summary: 'Stop the clock; it is moved by hand from then on',
  arguments: [],
  options: {},
  examples: ['clock stop'],
  async run({ client }, _values, context) {
    const { body } = await client.request('PATCH', '/_armature/clock', { body: { rate: 0 } })
    printRecord(context.terminal, body)
  },
})
