/** `reset`: restores the state after the first start. */

import { printRecord } from '../output/print.ts'
import { defineRemoteCommand } from '../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'reset',
  summary: 'Bring back the state after the first start',
  arguments: [],
  options: {},
  examples: ['reset'],
  confirm: async () => ({
    text: 'Bring back the state after the first start? All since then is lost.',
  }),
  async run({ client }, _values, context) {
    const { body } = await client.request('POST', '/_armature/reset')
    printRecord(context.terminal, body)
  },
})
