/** `health resolve`: ends an event. */

import { type Command, defineCommand } from '../../command.ts'
import { stepBody, stepOptions, summaryOf, takeStep } from '../../health.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'health resolve',
  summary: 'The event is over',
  arguments: [{ name: 'id', summary: 'The tracking id' }],
  options: { ...stepOptions, ...connectionOptions },
  examples: ["health resolve AB12CD34 --summary 'It was a full disk.'"],
  async run(context, values) {
    const connection = context.connect(values)
    const event = await takeStep(
      connection,
      values,
      { id: values.id, step: 'resolve' },
      stepBody(values),
    )
    printRecord(context.terminal, event, summaryOf(event))
    return 0
  },
})
