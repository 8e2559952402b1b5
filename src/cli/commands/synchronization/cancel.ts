/** `synchronization cancel`: cancels the running synchronization. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { accountOptions, inAccount, shareVersion } from '../../sharing.ts'
import { runOf, textAt } from '../../synchronizations.ts'

export const command = defineRemoteCommand({
  name: 'synchronization cancel',
  summary: 'Stop a synchronization; what was there before stays readable',
  arguments: [
    { name: 'name', summary: 'The share subscription' },
    { name: 'id', required: false, summary: 'The synchronization; the newest when left out' },
  ],
  options: accountOptions,
  examples: ['synchronization cancel theirs -g to -a taker'],
  async run(connection, values, context) {
    const path = await inAccount(connection, values, 'shareSubscriptions', values.name)
    const run = await runOf(connection, path, values.id)
    const answer = await connection.client.request('POST', `${path}/cancelSynchronization`, {
      query: { 'api-version': shareVersion },
      body: { synchronizationId: textAt(run, 'synchronizationId') },
    })
    printRecord(context.terminal, answer.body)
  },
})
