/** `migration list`: lists the migrations to a server. */

import { migrationQuery, migrationsPath, statusOf, targetOptions } from '../../migrations.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration list',
  summary: 'List the migrations to a server that are under way',
  arguments: [],
  options: {
    ...targetOptions,
    all: { type: 'boolean', summary: 'Those that have ended too' },
  },
  examples: ['migration list -g demo -s shop', 'migration list -g demo -s shop --all'],
  async run(connection, values, context) {
    const path = await migrationsPath(connection, values)
    const rows = await connection.client.list(path, {
      query: { ...migrationQuery, migrationListFilter: values.all ? 'All' : 'Active' },
    })
    printRows(context.terminal, rows, [
      { title: 'NAME', of: (row) => statusOf(row).name },
      { title: 'MODE', of: (row) => statusOf(row).mode },
      { title: 'STATE', of: (row) => statusOf(row).state },
      { title: 'SUBSTATE', of: (row) => statusOf(row).subState },
      {
        title: 'DATABASES',
        of: (row) =>
          statusOf(row)
            .databases.map(({ name }) => name)
            .join(', '),
      },
    ])
  },
})
