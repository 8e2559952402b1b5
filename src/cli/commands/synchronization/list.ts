/** `synchronization list`: lists the synchronizations of a share subscription. */

import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { accountOptions, inAccount } from '../../sharing.ts'
import { listRuns, runColumns } from '../../synchronizations.ts'

export const command = defineRemoteCommand({
  name: 'synchronization list',
  summary: 'List the synchronizations of a share subscription, newest first',
  arguments: [{ name: 'name', summary: 'The share subscription' }],
  options: accountOptions,
  examples: ['synchronization list theirs -g to -a taker'],
  async run(connection, values, context) {
    const path = await inAccount(connection, values, 'shareSubscriptions', values.name)
    printRows(context.terminal, await listRuns(connection, path), runColumns)
  },
})
