/** `migration watch`: draws a migration until it ends, and asks for decisions when it waits. */

import { exitEndedBadly, exitWaits, printMigration } from '../../migration-outcome.ts'
import { migrationPath, targetOptions } from '../../migrations.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { watchMigration } from '../../watch-migration.ts'

export const command = defineRemoteCommand({
  name: 'migration watch',
  summary: 'Draw the progress of a migration, and ask what is to be decided where it waits',
  notes:
    () => `Without a terminal it tells changes only, and nobody is asked. Exit codes: 0 when it succeeded or came
to where --until says, ${exitEndedBadly} when it failed or was called off, ${exitWaits} when it waits for somebody to decide.`,
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: {
    ...targetOptions,
    until: {
      type: 'string',
      value: 'point',
      choices: ['cutover', 'end'],
      summary:
        'Come back when all databases wait for cutover, or at the end; the end when left out',
    },
  },
  examples: [
    'migration watch move -g demo -s shop',
    'migration watch move -g demo -s shop --until cutover',
  ],
  async run(connection, values, context) {
    const path = await migrationPath(connection, values, values.name)
    const { migration, exitCode } = await watchMigration(context.terminal, connection, path, {
      draws: context.terminal.interactive && !context.terminal.output.isData,
      untilCutover: values.until === 'cutover',
    })
    printMigration(context.terminal, migration)
    return exitCode
  },
})
