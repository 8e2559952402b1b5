/** `clock show`: shows the installation's time, and how fast it passes. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'clock show',
  summary: 'Show the installation’s time and how fast it passes',
  arguments: [],
  options: {},
  examples: ['clock show', 'clock show --json'],
  async run({ client }, _values, context) {
    const { body } = await client.request('GET', '/_armature/clock')
    printRecord(context.terminal, body)
  },
})
