/** `key status`: shows which key seals the installation's secrets, and the progress of a rotation. */

import { type Command, defineCommand } from '../../command.ts'
import { keyStatusPath, rotationLine } from '../../key-status.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'key status',
  summary: 'Show the id of the installation’s key, its last rotation, and one under way',
  arguments: [],
  options: connectionOptions,
  examples: ['key status', 'key status --json'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('GET', keyStatusPath)
    const line = rotationLine(body)
    if (!context.terminal.output.isData && line !== undefined) context.terminal.error(`${line}\n`)
    printRecord(context.terminal, body)
    return 0
  },
})
