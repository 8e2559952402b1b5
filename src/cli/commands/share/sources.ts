/** `share sources`: lists the data sets of an accepted share. */

import { propertyOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { accountOptions, inAccount, shareVersion } from '../../sharing.ts'

export const command: Command = defineCommand({
  name: 'share sources',
  summary: 'List the data sets of a share that was accepted',
  arguments: [{ name: 'name', summary: 'The name of the share subscription' }],
  options: { ...accountOptions, ...connectionOptions },
  examples: ['share sources theirs -g to -a taker'],
  async run(context, values) {
    const connection = context.connect(values)
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
    return 0
  },
})
