/** `migration retry`: restarts failed databases, and leaves the others as they are. */

import { databasesOption, orderOfWorker, targetOptions } from '../../migrations.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration retry',
  summary: 'Begin databases anew that have failed; the others stay as they are',
  notes: () =>
    'While others of the migration are under way, or after its end. A cutover of them must be requested again.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption },
  examples: ['migration retry move -g demo -s shop -d stock'],
  async run(connection, values, context) {
    printRecord(context.terminal, await orderOfWorker(connection, values, 'retry'))
  },
})
