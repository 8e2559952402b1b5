/** `synchronization show`: shows the data sets of one synchronization (contract, operation 5). */

import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { accountOptions, inAccount } from '../../sharing.ts'
import { detailColumns, detailsOf, runOf, textAt } from '../../synchronizations.ts'

export const command = defineRemoteCommand({
  name: 'synchronization show',
  summary: 'Show the data sets of one synchronization and what each came to',
  arguments: [
    { name: 'name', summary: 'The share subscription' },
    { name: 'id', required: false, summary: 'The synchronization; the newest when left out' },
  ],
  options: {
    ...accountOptions,
    filter: { type: 'string', value: 'filter', summary: "Only those, as `status eq 'Failed'`" },
    'order-by': {
      type: 'string',
      value: 'fields',
      summary: 'In this order, as `sizeWritten desc`',
    },
  },
  examples: [
    'synchronization show theirs -g to -a taker',
    'synchronization show theirs -g to -a taker --order-by "durationMs desc"',
  ],
  async run(connection, values, context) {
    const path = await inAccount(connection, values, 'shareSubscriptions', values.name)
    const run = await runOf(connection, path, values.id)
    const rows = await detailsOf(connection, path, textAt(run, 'synchronizationId'), {
      $filter: values.filter,
      $orderby: values['order-by'],
    })
    printRows(context.terminal, rows, detailColumns)
  },
})
