/** `lock create`: prevents deletion or changes at a scope. */

import { type Command, defineCommand } from '../../command.ts'
import { locks } from '../../locks.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { putResource } from '../../resource-commands.ts'

export const command: Command = defineCommand({
  name: 'lock create',
  summary: 'Keep what is at a scope, and below it, from being deleted or changed',
  arguments: [{ name: 'name', summary: 'Its name' }],
  options: {
    level: {
      type: 'string',
      value: 'level',
      choices: ['CanNotDelete', 'ReadOnly'],
      summary: 'What it forbids; CanNotDelete when left out',
    },
    notes: { type: 'string', value: 'text', summary: 'Why' },
    ...locks.options,
    ...connectionOptions,
  },
  examples: [
    'lock create keep -g demo',
    'lock create still -g demo --level ReadOnly --notes audit',
  ],
  async run(context, values) {
    const connection = context.connect(values)
    const { level = 'CanNotDelete', notes } = values
    const path = await locks.path(connection, values, values.name)
    const properties = { level, ...(notes === undefined ? {} : { notes }) }
    printRecord(
      context.terminal,
      await putResource(connection, path, locks.version, { properties }),
    )
    return 0
  },
})
