/** `migration cancel`: cancels a migration, or some of its databases. */

import { printMigration } from '../../migration-outcome.ts'
import { databasesOption, orderMigration, targetOptions } from '../../migrations.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration cancel',
  summary: 'Call a migration off: the source is left as it was, what was copied stays',
  notes: () => 'It returns when that is asked for; `migration watch` waits for its end.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption },
  examples: [
    'migration cancel move -g demo -s shop',
    'migration cancel move -g demo -s shop --databases stock',
  ],
  async run(connection, values, context) {
    const answer = await orderMigration(connection, values, 'cancel', 'dbsToCancelMigrationOn')
    printMigration(context.terminal, answer)
  },
})
