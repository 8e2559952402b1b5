/** `share create`: creates a share, and its account if needed. */

import { missingGroup } from '../../group-place.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { putResource } from '../../resource-commands.ts'
import { accountOptions, ensureAccount, inAccount, shareVersion } from '../../sharing.ts'

export const command = defineRemoteCommand({
  name: 'share create',
  summary: 'Make a share, and its account where it is missing',
  arguments: [{ name: 'name', summary: 'The name of the share' }],
  options: {
    ...accountOptions,
    description: { type: 'string', value: 'text', summary: 'What consumers read about it' },
    terms: { type: 'string', value: 'text', summary: 'What consumers agree to' },
  },
  examples: ['share create sales -g from -a giver --description "Orders of this year"'],
  confirm: missingGroup,
  async run(connection, values, context) {
    await ensureAccount(connection, values)
    const { description, terms } = values
    const properties = {
      ...(description === undefined ? {} : { description }),
      ...(terms === undefined ? {} : { terms }),
    }
    const path = await inAccount(connection, values, 'shares', values.name)
    const made = await putResource(connection, path, shareVersion, { properties })
    printRecord(context.terminal, made)
  },
})
