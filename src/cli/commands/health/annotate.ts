/** `health annotate`: adds a note for readers of an event. */

import { stepBody, stepOptions, summaryOf, takeStep } from '../../health.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'health annotate',
  summary: 'Tell those who follow an event something',
  arguments: [{ name: 'id', summary: 'The tracking id' }],
  options: stepOptions,
  examples: ["health annotate AB12CD34 --summary 'We look into it.'"],
  async run(connection, values, context) {
    const event = await takeStep(
      connection,
      values,
      { id: values.id, step: 'annotate' },
      stepBody(values),
    )
    printRecord(context.terminal, event, summaryOf(event))
  },
})
