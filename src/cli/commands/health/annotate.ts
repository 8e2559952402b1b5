/** `health annotate`: adds a note for readers of an event. */

import { type Command, defineCommand } from '../../command.ts'
import { stepBody, stepOptions, summaryOf, takeStep } from '../../health.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'health annotate',
  summary: 'Tell those who follow an event something',
  arguments: [{ name: 'id', summary: 'The tracking id' }],
  options: { ...stepOptions, ...connectionOptions },
  examples: ["health annotate AB12CD34 --summary 'We look into it.'"],
  async run(context, values) {
    const connection = context.connect(values)
    const event = await takeStep(
      connection,
      values,
      { id: values.id, step: 'annotate' },
      stepBody(values),
    )
    printRecord(context.terminal, event, summaryOf(event))
    return 0
  },
})
