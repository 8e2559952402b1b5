/** `migration delete`: deletes a migration. Refuses a running one, unless told to cancel it. */

import { LocalProblem } from '../../command.ts'
import {
  hasEnded,
  migrationPath,
  migrationQuery,
  statusOf,
  targetOptions,
} from '../../migrations.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration delete',
  summary: 'Take a migration off the list; what it brought to the target stays',
  notes: () =>
    'With --cancel one that is under way is called off, as `migration cancel` does, and stays on the list until it has ended: delete it then.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: {
    ...targetOptions,
    cancel: { type: 'boolean', summary: 'Call it off where it is under way' },
  },
  examples: [
    'migration delete move -g demo -s shop',
    'migration delete move -g demo -s shop --cancel',
  ],
  async run(connection, values, context) {
    const { client } = connection
    const path = await migrationPath(connection, values, values.name)
    const { body } = await client.request('GET', path, { query: migrationQuery })
    const isUnderWay = !hasEnded(statusOf(body))
    if (isUnderWay && !values.cancel) {
      throw new LocalProblem(
        'UnderWay',
        `${values.name} is under way: end it with \`migration cutover\` or \`migration cancel\`, or delete it with --cancel.`,
      )
    }
    await client.request('DELETE', path, { query: migrationQuery })
    const told = isUnderWay ? `${values.name} is being called off.` : `Deleted ${values.name}.`
    context.terminal.error(`${told}\n`)
  },
})
