/** `share accept`: accepts an invitation as a share subscription, and creates its account if needed. */

import { missingGroup } from '../../group-place.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { putResource } from '../../resource-commands.ts'
import { accountOptions, ensureAccount, inAccount, shareVersion } from '../../sharing.ts'

export const command = defineRemoteCommand({
  name: 'share accept',
  summary: 'Accept an invitation: makes a share subscription',
  arguments: [{ name: 'name', summary: 'The name of the share subscription' }],
  options: {
    ...accountOptions,
    invitation: { type: 'string', value: 'id', required: true, summary: 'The invitation' },
  },
  examples: [
    'share accept theirs -g to -a taker --invitation 11111111-2222-4333-8444-555555555555',
  ],
  confirm: missingGroup,
  async run(connection, values, context) {
    await ensureAccount(connection, values)
    const path = await inAccount(connection, values, 'shareSubscriptions', values.name)
    const properties = { invitationId: values.invitation, sourceShareLocation: 'local' }
    printRecord(context.terminal, await putResource(connection, path, shareVersion, { properties }))
  },
})
