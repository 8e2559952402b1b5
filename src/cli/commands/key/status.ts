/** `key status`: shows which key seals the installation's secrets, and the progress of a rotation. */

import { keyStatusPath, rotationLine } from '../../key-status.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'key status',
  summary: 'Show the id of the installation’s key, its last rotation, and one under way',
  arguments: [],
  options: {},
  examples: ['key status', 'key status --json'],
  async run({ client }, _values, context) {
    const { body } = await client.request('GET', keyStatusPath)
    const line = rotationLine(body)
    if (!context.terminal.output.isData && line !== undefined) context.terminal.error(`${line}\n`)
    printRecord(context.terminal, body)
  },
})
