/** `health mitigate`: ends the impact in some regions or in all. */

import { type Command, defineCommand } from '../../command.ts'
import { stepBody, stepOptions, summaryOf, takeStep } from '../../health.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'health mitigate',
  summary: 'The impact has ended, in some regions or in all',
  arguments: [{ name: 'id', summary: 'The tracking id' }],
  options: { ...stepOptions, ...connectionOptions },
  examples: ["health mitigate AB12CD34 --region 'West US' --summary 'Traffic was moved.'"],
  async run(context, values) {
    const connection = context.connect(values)
    const event = await takeStep(
      connection,
      values,
      { id: values.id, step: 'mitigate' },
      stepBody(values),
    )
    printRecord(context.terminal, event, summaryOf(event))
    return 0
  },
})
