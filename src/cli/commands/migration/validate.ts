/** `migration validate`: checks what could make a migration fail; it moves no data. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, defineCommand, UsageError } from '../../command.ts'
import { endsOptions, endsProperties } from '../../migration-body.ts'
import { exitEndedBadly, printMigration } from '../../migration-outcome.ts'
import { hasEnded, migrationPath, migrationQuery, statusOf } from '../../migrations.ts'
import { connectionOptions } from '../../options.ts'

const everyMilliseconds = 500

export const command: Command = defineCommand({
  name: 'migration validate',
  summary: 'Check what could make a migration fail, without moving anything',
  notes:
    () => `It is a migration of its own, which ends when its findings are there: \`migration show\` shows them
again. The migration proper gets another name.`,
  arguments: [{ name: 'name', summary: 'Lower-case letters and digits, a letter first' }],
  options: { ...endsOptions, ...connectionOptions },
  examples: [
    'migration validate check -g demo -s shop --source db.example:5432@postgres -d orders --online',
  ],
  async run(context, values) {
    if (values.databases === undefined) throw new UsageError('--databases must be given')
    const connection = context.connect(values)
    const path = await migrationPath(connection, values, values.name)
    const properties = {
      ...(await endsProperties(context, connection, values)),
      migrationOption: 'Validate',
    }
    const { client } = connection
    const query = migrationQuery
    let { body } = await client.request('PUT', path, { query, body: { properties } })
    while (!hasEnded(statusOf(body)) && statusOf(body).state !== 'WaitingForUserAction') {
      await sleep(everyMilliseconds)
      body = (await client.request('GET', path, { query })).body
    }
    printMigration(context.terminal, body, { withFindings: true })
    return statusOf(body).state === 'Succeeded' ? 0 : exitEndedBadly
  },
})
