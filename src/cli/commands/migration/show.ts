/** `migration show`: shows the state of a migration per database, and the findings of its validation. */

import { type Command, defineCommand } from '../../command.ts'
import { printMigration } from '../../migration-outcome.ts'
import { migrationPath, migrationQuery, targetOptions } from '../../migrations.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'migration show',
  summary: 'Show where a migration is, database by database',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...connectionOptions },
  examples: ['migration show move -g demo -s shop'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await migrationPath(connection, values, values.name)
    const { body } = await connection.client.request('GET', path, { query: migrationQuery })
    printMigration(context.terminal, body, { withFindings: true })
    return 0
  },
})
