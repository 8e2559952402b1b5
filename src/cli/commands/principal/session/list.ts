/** `principal session list`: lists the sessions of a person. */

import { member } from '../../../directory.ts'
import { printRows } from '../../../output/print.ts'
import { defineRemoteCommand } from '../../../remote-command.ts'
import { sessionsOf } from '../../../sessions.ts'

export const command = defineRemoteCommand({
  name: 'principal session list',
  summary: 'List where you are signed in, or where another user is',
  arguments: [],
  options: {
    user: { type: 'string', value: 'id', summary: 'Another user’s object id' },
  },
  examples: [
    'principal session list',
    'principal session list --user 1b4e28ba-2fa1-41d2-883f-0016d3cca427',
  ],
  async run({ client }, values, context) {
    const rows = await client.list(sessionsOf(values.user))
    printRows(context.terminal, rows, [
      { title: 'ID', of: member('id') },
      { title: 'SINCE', of: member('createdOn') },
      { title: 'LAST USED', of: member('lastUsedOn') },
      { title: 'ADDRESS', of: member('address') },
      { title: 'APPLICATION', of: (row) => member('clientId')(row) || 'browser' },
      { title: 'USER AGENT', of: member('userAgent') },
    ])
  },
})
