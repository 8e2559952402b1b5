/** `reset`: brings back the state after the first start. */

import { type Command, defineCommand } from '../command.ts'
import { apiOptions } from '../options.ts'
import { printRecord } from '../output/print.ts'

export const command: Command = defineCommand({
  name: 'reset',
  summary: 'Bring back the state after the first start',
  arguments: [],
  options: apiOptions,
  examples: ['reset'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('POST', '/_armature/reset')
    printRecord(context.terminal, values.json, body)
    return 0
  },
})
