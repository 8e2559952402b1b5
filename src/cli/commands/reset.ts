/** `reset`: restores the state after the first start. */

import { type Command, defineCommand } from '../command.ts'
import { connectionOptions } from '../options.ts'
import { printRecord } from '../output/print.ts'

export const command: Command = defineCommand({
  name: 'reset',
  summary: 'Bring back the state after the first start',
  arguments: [],
  options: connectionOptions,
  examples: ['reset'],
  confirm: async () => ({
    text: 'Bring back the state after the first start? All since then is lost.',
  }),
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('POST', '/_armature/reset')
    printRecord(context.terminal, body)
    return 0
  },
})
