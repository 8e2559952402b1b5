/** `clock show`: shows the installation's time, and how fast it passes. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'clock show',
  summary: 'Show the installation’s time and how fast it passes',
  arguments: [],
  options: connectionOptions,
  examples: ['clock show', 'clock show --json'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('GET', '/_armature/clock')
    printRecord(context.terminal, body)
    return 0
  },
})
