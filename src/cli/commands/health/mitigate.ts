/** `health mitigate`: ends the impact in some regions or in all. */

import { stepBody, stepOptions, summaryOf, takeStep } from '../../health.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'health mitigate',
  summary: 'The impact has ended, in some regions or in all',
  arguments: [{ name: 'id', summary: 'The tracking id' }],
  options: stepOptions,
  examples: ["health mitigate AB12CD34 --region 'West US' --summary 'Traffic was moved.'"],
  async run(connection, values, context) {
    const event = await takeStep(
      connection,
      values,
      { id: values.id, step: 'mitigate' },
      stepBody(values),
    )
    printRecord(context.terminal, event, summaryOf(event))
  },
})
