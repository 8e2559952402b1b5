/** `migration catch-up`: applies to the target what was altered at the source during replication. */

import { databasesOption, orderOfWorker, targetOptions } from '../../migrations.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration catch-up',
  summary: 'Carry over what was altered at the source while changes flow',
  notes: () =>
    'Columns, defaults, constraints, indexes, tables and partitions with their rows, sequences. `migration show` tells what goes on, and what could not be carried over.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption },
  examples: ['migration catch-up move -g demo -s shop'],
  async run(connection, values, context) {
    printRecord(context.terminal, await orderOfWorker(connection, values, 'catchUp'))
  },
})
