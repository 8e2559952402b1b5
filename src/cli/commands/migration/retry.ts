/** `migration retry`: restarts failed databases, and leaves the others as they are. */

import { type Command, defineCommand } from '../../command.ts'
import { databasesOption, orderOfWorker, targetOptions } from '../../migrations.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'migration retry',
  summary: 'Begin databases anew that have failed; the others go on',
  notes: () =>
    'While others of the migration are under way. At its end, make a new migration of those that failed.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption, ...connectionOptions },
  examples: ['migration retry move -g demo -s shop -d stock'],
  async run(context, values) {
    printRecord(context.terminal, await orderOfWorker(context.connect(values), values, 'retry'))
    return 0
  },
})
