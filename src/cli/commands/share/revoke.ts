/** `share revoke`: stops a consumer. Running synchronizations are cancelled, and no new ones start. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { accountOptions, inAccount, shareVersion } from '../../sharing.ts'

export const command: Command = defineCommand({
  name: 'share revoke',
  summary: 'Stop a consumer: what runs is cancelled, nothing new starts',
  arguments: [
    { name: 'name', summary: 'The name of the share' },
    { name: 'consumer', summary: 'The id that `share consumers` lists' },
  ],
  options: { ...accountOptions, ...connectionOptions },
  examples: ['share revoke sales 11111111-2222-4333-8444-555555555555 -g from -a giver'],
  async run(context, values) {
    const connection = context.connect(values)
    const view = ['shares', values.name, 'providerShareSubscriptions', values.consumer]
    const path = await inAccount(connection, values, ...view)
    const query = { 'api-version': shareVersion }
    const answer = await connection.client.request('POST', `${path}/revoke`, { query })
    printRecord(context.terminal, answer.body)
    return 0
  },
})
