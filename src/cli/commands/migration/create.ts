/** `migration create`: creates a migration of databases to a registered server. */

import {
  endsOptions,
  endsProperties,
  optional,
  settingsOptions,
  settingsTags,
} from '../../migration-body.ts'
import { printMigration } from '../../migration-outcome.ts'
import { migrationPath, migrationQuery } from '../../migrations.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration create',
  summary: 'Bring databases of another server to a registered one',
  notes:
    () => `It returns when that is asked for; \`migration watch\` shows how it goes and asks what is to be
decided. Passwords never stand on the command line.`,
  arguments: [{ name: 'name', summary: 'Lower-case letters, digits and hyphens' }],
  options: {
    ...endsOptions,
    'skip-validation': { type: 'boolean', summary: 'Do not check first what could go wrong' },
    overwrite: {
      type: 'boolean',
      summary: 'Replace databases of those names at the target; asked for otherwise',
    },
    'set-up-replication': {
      type: 'boolean',
      summary: 'Change what logical replication needs at the source; asked for otherwise',
    },
    'start-later': { type: 'boolean', summary: 'Move no data before `migration start`' },
    'window-start': {
      type: 'string',
      value: 'time',
      summary: 'Move no data before this, as `2030-01-31T22:00:00Z`',
    },
    'window-end': { type: 'string', value: 'time', summary: 'When the window is meant to end' },
    ...settingsOptions,
  },
  examples: [
    'migration create move -g demo -s shop --source db.example:5432@postgres -d orders,stock --online',
    'migration create move -g demo -s shop --source-server old --ssl-mode Prefer -d orders --source-password @old.txt --target-password @new.txt',
  ],
  async run(connection, values, context) {
    const path = await migrationPath(connection, values, values.name)
    const properties = {
      ...(await endsProperties(context, connection, values)),
      migrationOption: values['skip-validation'] ? 'Migrate' : 'ValidateAndMigrate',
      ...(values.overwrite ? { overwriteDbsInTarget: 'True' } : {}),
      ...(values['set-up-replication']
        ? { setupLogicalReplicationOnSourceDbIfNeeded: 'True' }
        : {}),
      ...(values['start-later'] ? { startDataMigration: 'False' } : {}),
      ...optional('migrationWindowStartTimeInUtc', values['window-start']),
      ...optional('migrationWindowEndTimeInUtc', values['window-end']),
    }
    const { body } = await connection.client.request('PUT', path, {
      query: migrationQuery,
      body: { properties, ...settingsTags(values) },
    })
    printMigration(context.terminal, body)
  },
})
