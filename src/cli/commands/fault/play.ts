/** `fault play`: adds the rules of a scenario. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'fault play',
  summary: 'Add the rules of a scenario; `fault clear` ends them',
  arguments: [
    {
      name: 'scenario',
      summary: 'What happens',
      choices: ['region-outage', 'throttled', 'flaky-network', 'slow-operations'],
    },
  ],
  options: {},
  examples: ['fault play throttled'],
  async run({ client }, values, context) {
    const path = `/_armature/faults/scenarios/${encodeURIComponent(values.scenario)}`
    const { body } = await client.request('POST', path)
    printRecord(context.terminal, body)
  },
})
