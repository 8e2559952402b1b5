/** `synchronization start`: copies the mapped data sets of a share subscription. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { accountOptions, inAccount, shareVersion } from '../../sharing.ts'

export const command = defineRemoteCommand({
  name: 'synchronization start',
  summary: 'Copy what a share subscription maps: what changed, or all of it',
  arguments: [{ name: 'name', summary: 'The share subscription' }],
  options: {
    ...accountOptions,
    full: { type: 'boolean', summary: 'All of it; only what changed when left out' },
  },
  examples: ['synchronization start theirs -g to -a taker --full'],
  async run(connection, values, context) {
    const path = await inAccount(connection, values, 'shareSubscriptions', values.name)
    const answer = await connection.client.request('POST', `${path}/synchronize`, {
      query: { 'api-version': shareVersion },
      body: { synchronizationMode: values.full ? 'FullSync' : 'Incremental' },
    })
    printRecord(context.terminal, answer.body)
  },
})
