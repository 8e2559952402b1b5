/** `fault play`: adds the rules of a scenario. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'fault play',
  summary: 'Add the rules of a scenario; `fault clear` ends them',
  arguments: [
    {
      name: 'scenario',
      summary: 'region-outage, throttled, flaky-network or slow-operations',
    },
  ],
  options: connectionOptions,
  examples: ['fault play throttled'],
  async run(context, values) {
    const { client } = context.connect(values)
    const path = `/_armature/faults/scenarios/${encodeURIComponent(values.scenario)}`
    const { body } = await client.request('POST', path)
    printRecord(context.terminal, body)
    return 0
  },
})
