/** `share accept`: accepts an invitation as a share subscription, and creates its account if needed. */

import { type Command, defineCommand } from '../../command.ts'
import { missingGroup } from '../../group-place.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { accountOptions, ensureAccount, inAccount, make, shareVersion } from '../../sharing.ts'

export const command: Command = defineCommand({
  name: 'share accept',
  summary: 'Accept an invitation: makes a share subscription',
  arguments: [{ name: 'name', summary: 'The name of the share subscription' }],
  options: {
    ...accountOptions,
    invitation: { type: 'string', value: 'id', required: true, summary: 'The invitation' },
    ...connectionOptions,
  },
  examples: [
    'share accept theirs -g to -a taker --invitation 11111111-2222-4333-8444-555555555555',
  ],
  confirm: missingGroup,
  async run(context, values) {
    const connection = context.connect(values)
    await ensureAccount(connection, values)
    const path = await inAccount(connection, values, 'shareSubscriptions', values.name)
    const properties = { invitationId: values.invitation, sourceShareLocation: 'local' }
    printRecord(context.terminal, await make(connection, path, shareVersion, { properties }))
    return 0
  },
})
