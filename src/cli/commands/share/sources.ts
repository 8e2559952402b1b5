/** `share sources`: lists the data sets of an accepted share. */

import { propertyOf } from '#client/resource.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { accountOptions, inAccount, shareVersion } from '../../sharing.ts'

export const command = defineRemoteCommand({
  name: 'share sources',
  summary: 'List the data sets of a share that was accepted',
  arguments: [{ name: 'name', summary: 'The name of the share subscription' }],
  options: accountOptions,
  examples: ['share sources theirs -g to -a taker'],
  async run(connection, values, context) {
    const path = await inAccount(
      connection,
      values,
      'shareSubscriptions',
      values.name,
      'consumerSourceDataSets',
    )
    const rows = await connection.client.list(path, { query: { 'api-version': shareVersion } })
    printRows(context.terminal, rows, [
      { title: 'NAME', of: (row) => propertyOf(row, 'dataSetName') },
      { title: 'KIND', of: (row) => propertyOf(row, 'dataSetType') },
      { title: 'ID', of: (row) => propertyOf(row, 'dataSetId') },
      { title: 'PATH', of: (row) => propertyOf(row, 'dataSetPath') },
    ])
  },
})
