/** `share consumers`: lists who accepted a share. */

import { propertyOf } from '#client/resource.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { accountOptions, inAccount, shareVersion } from '../../sharing.ts'

export const command = defineRemoteCommand({
  name: 'share consumers',
  summary: 'List who took a share',
  arguments: [{ name: 'name', summary: 'The name of the share' }],
  options: accountOptions,
  examples: ['share consumers sales -g from -a giver'],
  async run(connection, values, context) {
    const path = await inAccount(
      connection,
      values,
      'shares',
      values.name,
      'providerShareSubscriptions',
    )
    const rows = await connection.client.list(path, { query: { 'api-version': shareVersion } })
    printRows(context.terminal, rows, [
      { title: 'ID', of: (row) => propertyOf(row, 'shareSubscriptionObjectId') },
      { title: 'CONSUMER', of: (row) => propertyOf(row, 'consumerName') },
      { title: 'STATUS', of: (row) => propertyOf(row, 'shareSubscriptionStatus') },
      { title: 'SINCE', of: (row) => propertyOf(row, 'sharedAt') },
    ])
  },
})
