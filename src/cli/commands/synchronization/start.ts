/** `synchronization start`: copies the mapped data sets of a share subscription. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { accountOptions, inAccount, shareVersion } from '../../sharing.ts'

export const command: Command = defineCommand({
  name: 'synchronization start',
  summary: 'Copy what a share subscription maps: what changed, or all of it',
  arguments: [{ name: 'name', summary: 'The share subscription' }],
  options: {
    ...accountOptions,
    full: { type: 'boolean', summary: 'All of it; only what changed when left out' },
    ...connectionOptions,
  },
  examples: ['synchronization start theirs -g to -a taker --full'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await inAccount(connection, values, 'shareSubscriptions', values.name)
    const answer = await connection.client.request('POST', `${path}/synchronize`, {
      query: { 'api-version': shareVersion },
      body: { synchronizationMode: values.full ? 'FullSync' : 'Incremental' },
    })
    printRecord(context.terminal, answer.body)
    return 0
  },
})
