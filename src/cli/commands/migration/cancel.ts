/** `migration cancel`: calls a migration off, or some of its databases. */

import { type Command, defineCommand } from '../../command.ts'
import { printMigration } from '../../migration-outcome.ts'
import {
  databasesOption,
  migrationPath,
  namesIn,
  patchMigration,
  targetOptions,
} from '../../migrations.ts'
import { apiOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'migration cancel',
  summary: 'Call a migration off: the source is left as it was, what was copied stays',
  notes: () => 'It returns when that is asked for; `migration watch` waits for its end.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption, ...apiOptions },
  examples: [
    'migration cancel move -g demo -s shop',
    'migration cancel move -g demo -s shop --databases stock',
  ],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await migrationPath(connection, values, values.name)
    const names = namesIn(values.databases)
    const answer = await patchMigration(connection, path, {
      cancel: 'True',
      ...(names.length === 0 ? {} : { dbsToCancelMigrationOn: names }),
    })
    printMigration(context.terminal, values.json, answer)
    return 0
  },
})
