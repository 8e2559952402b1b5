/** `migration catch-up`: applies to the target what was altered at the source during replication. */

import { type Command, defineCommand } from '../../command.ts'
import { databasesOption, orderOfWorker, targetOptions } from '../../migrations.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'migration catch-up',
  summary: 'Carry over what was altered at the source while changes flow',
  notes: () =>
    'Columns, defaults, constraints, indexes, tables and partitions with their rows, sequences. `migration show` tells what goes on, and what could not be carried over.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption, ...connectionOptions },
  examples: ['migration catch-up move -g demo -s shop'],
  async run(context, values) {
    printRecord(context.terminal, await orderOfWorker(context.connect(values), values, 'catchUp'))
    return 0
  },
})
