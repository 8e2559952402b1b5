/** `migration show`: shows the state of a migration per database, and the findings of its validation. */

import { printMigration } from '../../migration-outcome.ts'
import { migrationPath, migrationQuery, targetOptions } from '../../migrations.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration show',
  summary: 'Show where a migration is, database by database',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: targetOptions,
  examples: ['migration show move -g demo -s shop'],
  async run(connection, values, context) {
    const path = await migrationPath(connection, values, values.name)
    const { body } = await connection.client.request('GET', path, { query: migrationQuery })
    printMigration(context.terminal, body, { withFindings: true })
  },
})
