/** `migration catch-up`: has the target take on what was altered at the source while changes flow. */

import { type Command, defineCommand } from '../../command.ts'
import {
  databasesOption,
  migrationPath,
  migrationQuery,
  namesIn,
  targetOptions,
} from '../../migrations.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'migration catch-up',
  summary: 'Carry over what was altered at the source while changes flow',
  notes: () =>
    'Columns, defaults, constraints, indexes, tables and partitions with their rows, sequences. `migration show` tells what goes on, and what could not be carried over.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption, ...connectionOptions },
  examples: ['migration catch-up move -g demo -s shop'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await migrationPath(connection, values, values.name)
    const names = namesIn(values.databases)
    const { body } = await connection.client.request('POST', `${path}/catchUp`, {
      query: migrationQuery,
      body: names.length === 0 ? {} : { databases: names },
    })
    printRecord(context.terminal, body)
    return 0
  },
})
