/** `clock start`: lets time pass again, at the given speed. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'clock start',
  summary: 'Let time pass again, or faster than elsewhere',
  arguments: [],
  options: {
    rate: { type: 'string', value: 'number', summary: 'Seconds that pass in one; 1 when left out' },
  },
  examples: ['clock start', 'clock start --rate 60'],
  async run({ client }, values, context) {
    const { body } = await client.request('PATCH', '/_armature/clock', {
      body: { rate: Number(values.rate ?? 1) },
    })
    printRecord(context.terminal, body)
  },
})
