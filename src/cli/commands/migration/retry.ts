/** `migration retry`: restarts failed databases, and leaves the others as they are. */

import { type Command, defineCommand } from '../../command.ts'
import { databasesOption, orderOfWorker, targetOptions } from '../../migrations.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'migration retry',
  summary: 'Begin databases anew that have failed; the others stay as they are',
  notes: () =>
    'While others of the migration are under way, or after its end. A cutover of them must be requested again.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption, ...connectionOptions },
  examples: ['migration retry move -g demo -s shop -d stock'],
  async run(context, values) {
    printRecord(context.terminal, await orderOfWorker(context.connect(values), values, 'retry'))
    return 0
  },
})
