/** `migration start`: starts a waiting data migration, or schedules it. */

import { type Command, defineCommand } from '../../command.ts'
import { printMigration } from '../../migration-outcome.ts'
import { migrationPath, patchMigration, targetOptions } from '../../migrations.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
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
    ...connectionOptions,
  },
  examples: [
    'migration start move -g demo -s shop',
    'migration start move -g demo -s shop --at 2030-01-31T22:00:00Z',
  ],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await migrationPath(connection, values, values.name)
    const answer = await patchMigration(
      connection,
      path,
      values.at === undefined
        ? { startDataMigration: 'True' }
        : { migrationWindowStartTimeInUtc: values.at },
    )
    printMigration(context.terminal, answer)
    return 0
  },
})
