/** `share invitations`: lists the caller's open invitations. */

import { propertyOf } from '#client/resource.ts'
import { qualify } from '#kernel/vendor.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { shareVersion } from '../../sharing.ts'

export const command: Command = defineCommand({
  name: 'share invitations',
  summary: 'List the invitations that await your answer',
  arguments: [],
  options: connectionOptions,
  examples: ['share invitations'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = `/providers/${qualify(connection.words, 'DataShare')}/listInvitations`
    const rows = await connection.client.list(path, { query: { 'api-version': shareVersion } })
    printRows(context.terminal, rows, [
      { title: 'INVITATION', of: (row) => propertyOf(row, 'invitationId') },
      { title: 'SHARE', of: (row) => propertyOf(row, 'shareName') },
      { title: 'FROM', of: (row) => propertyOf(row, 'providerName') },
      { title: 'LOCATION', of: (row) => propertyOf(row, 'location') },
      { title: 'DESCRIPTION', of: (row) => propertyOf(row, 'description') },
    ])
    return 0
  },
})
