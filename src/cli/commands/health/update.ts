/** `health update`: changes parts of an event; the others stay as they are. */

import { type Command, defineCommand } from '../../command.ts'
import { eventOptions, eventProperties, healthOptions, summaryOf, takeStep } from '../../health.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'health update',
  summary: 'Replace parts of an event',
  arguments: [{ name: 'id', summary: 'The tracking id' }],
  options: {
    ...healthOptions,
    ...eventOptions,
    title: { type: 'string', value: 'text', summary: 'What it is about' },
    ...connectionOptions,
  },
  examples: ["health update AB12CD34 --level Critical --title 'Groups do not start'"],
  async run(context, values) {
    const properties = eventProperties(values, [])
    const connection = context.connect(values)
    const event = await takeStep(
      connection,
      values,
      { id: values.id, step: 'update' },
      { properties },
    )
    printRecord(context.terminal, event, summaryOf(event))
    return 0
  },
})
