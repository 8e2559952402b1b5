/** `clock start`: lets time pass again, at the given speed. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'clock start',
  summary: 'Let time pass again, or faster than elsewhere',
  arguments: [],
  options: {
    rate: { type: 'string', value: 'number', summary: 'Seconds that pass in one; 1 when left out' },
    ...connectionOptions,
  },
  examples: ['clock start', 'clock start --rate 60'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('PATCH', '/_armature/clock', {
      body: { rate: Number(values.rate ?? 1) },
    })
    printRecord(context.terminal, body)
    return 0
  },
})
