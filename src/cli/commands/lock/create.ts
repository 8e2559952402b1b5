/** `lock create`: prevents deletion or changes at a scope. */

import { locks } from '../../locks.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { putResource } from '../../resource-commands.ts'

export const command = defineRemoteCommand({
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
  },
  examples: [
    'lock create keep -g demo',
    'lock create still -g demo --level ReadOnly --notes audit',
  ],
  async run(connection, values, context) {
    const { level = 'CanNotDelete', notes } = values
    const path = await locks.path(connection, values, values.name)
    const properties = { level, ...(notes === undefined ? {} : { notes }) }
    printRecord(
      context.terminal,
      await putResource(connection, path, locks.version, { properties }),
    )
  },
})
