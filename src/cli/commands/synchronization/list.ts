/** `synchronization list`: lists the synchronizations of a share subscription. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { accountOptions, inAccount } from '../../sharing.ts'
import { listRuns, runColumns } from '../../synchronizations.ts'

export const command: Command = defineCommand({
  name: 'synchronization list',
  summary: 'List the synchronizations of a share subscription, newest first',
  arguments: [{ name: 'name', summary: 'The share subscription' }],
  options: { ...accountOptions, ...connectionOptions },
  examples: ['synchronization list theirs -g to -a taker'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await inAccount(connection, values, 'shareSubscriptions', values.name)
    printRows(context.terminal, await listRuns(connection, path), runColumns)
    return 0
  },
})
