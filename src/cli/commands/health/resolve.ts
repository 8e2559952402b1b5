/** `health resolve`: ends an event. */

import { stepBody, stepOptions, summaryOf, takeStep } from '../../health.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'health resolve',
  summary: 'The event is over',
  arguments: [{ name: 'id', summary: 'The tracking id' }],
  options: stepOptions,
  examples: ["health resolve AB12CD34 --summary 'It was a full disk.'"],
  async run(connection, values, context) {
    const event = await takeStep(
      connection,
      values,
      { id: values.id, step: 'resolve' },
      stepBody(values),
    )
    printRecord(context.terminal, event, summaryOf(event))
  },
})
