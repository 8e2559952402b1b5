/** `migration start`: starts a waiting data migration, or schedules it. */

import { printMigration } from '../../migration-outcome.ts'
import { migrationPath, patchMigration, targetOptions } from '../../migrations.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration start',
  summary: 'Begin to move the data, now or at a time',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: {
    ...targetOptions,
    at: {
      type: 'string',
      value: 'time',
      summary: 'Not before this, as `2030-01-31T22:00:00Z`; now when left out',
    },
  },
  examples: [
    'migration start move -g demo -s shop',
    'migration start move -g demo -s shop --at 2030-01-31T22:00:00Z',
  ],
  async run(connection, values, context) {
    const path = await migrationPath(connection, values, values.name)
    const answer = await patchMigration(
      connection,
      path,
      values.at === undefined
        ? { startDataMigration: 'True' }
        : { migrationWindowStartTimeInUtc: values.at },
    )
    printMigration(context.terminal, answer)
  },
})
