/** `share invitations`: lists the caller's open invitations. */

import { propertyOf } from '#client/resource.ts'
import { qualify } from '#kernel/vendor.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { shareVersion } from '../../sharing.ts'

export const command = defineRemoteCommand({
  name: 'share invitations',
  summary: 'List the invitations that await your answer',
  arguments: [],
  options: {},
  examples: ['share invitations'],
  async run(connection, _values, context) {
    const path = `/providers/${qualify(connection.words, 'DataShare')}/listInvitations`
    const rows = await connection.client.list(path, { query: { 'api-version': shareVersion } })
    printRows(context.terminal, rows, [
      { title: 'INVITATION', of: (row) => propertyOf(row, 'invitationId') },
      { title: 'SHARE', of: (row) => propertyOf(row, 'shareName') },
      { title: 'FROM', of: (row) => propertyOf(row, 'providerName') },
      { title: 'LOCATION', of: (row) => propertyOf(row, 'location') },
      { title: 'DESCRIPTION', of: (row) => propertyOf(row, 'description') },
    ])
  },
})
