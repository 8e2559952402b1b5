/** `migration cancel`: cancels a migration, or some of its databases. */

import { type Command, defineCommand } from '../../command.ts'
import { printMigration } from '../../migration-outcome.ts'
import { databasesOption, orderMigration, targetOptions } from '../../migrations.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'migration cancel',
  summary: 'Call a migration off: the source is left as it was, what was copied stays',
  notes: () => 'It returns when that is asked for; `migration watch` waits for its end.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption, ...connectionOptions },
  examples: [
    'migration cancel move -g demo -s shop',
    'migration cancel move -g demo -s shop --databases stock',
  ],
  async run(context, values) {
    const connection = context.connect(values)
    const answer = await orderMigration(connection, values, 'cancel', 'dbsToCancelMigrationOn')
    printMigration(context.terminal, answer)
    return 0
  },
})
