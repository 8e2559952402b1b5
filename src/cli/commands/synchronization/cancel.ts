/** `synchronization cancel`: cancels the running synchronization. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { accountOptions, inAccount, shareVersion } from '../../sharing.ts'
import { runOf, textAt } from '../../synchronizations.ts'

export const command: Command = defineCommand({
  name: 'synchronization cancel',
  summary: 'Stop a synchronization; what was there before stays readable',
  arguments: [
    { name: 'name', summary: 'The share subscription' },
    { name: 'id', required: false, summary: 'The synchronization; the newest when left out' },
  ],
  options: { ...accountOptions, ...connectionOptions },
  examples: ['synchronization cancel theirs -g to -a taker'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await inAccount(connection, values, 'shareSubscriptions', values.name)
    const run = await runOf(connection, path, values.id)
    const answer = await connection.client.request('POST', `${path}/cancelSynchronization`, {
      query: { 'api-version': shareVersion },
      body: { synchronizationId: textAt(run, 'synchronizationId') },
    })
    printRecord(context.terminal, answer.body)
    return 0
  },
})
