/** `share reinstate`: lets a revoked consumer synchronize again. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { accountOptions, changeConsumer } from '../../sharing.ts'

export const command = defineRemoteCommand({
  name: 'share reinstate',
  summary: 'Let a revoked consumer synchronize again',
  arguments: [
    { name: 'name', summary: 'The name of the share' },
    { name: 'consumer', summary: 'The id that `share consumers` lists' },
  ],
  options: accountOptions,
  examples: ['share reinstate sales 11111111-2222-4333-8444-555555555555 -g from -a giver'],
  async run(connection, values, context) {
    printRecord(context.terminal, await changeConsumer(connection, values, 'reinstate'))
  },
})
