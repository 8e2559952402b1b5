/** `principal session end`: ends a session and its tokens. */

import { defineRemoteCommand } from '../../../remote-command.ts'
import { sessionsOf } from '../../../sessions.ts'

export const command = defineRemoteCommand({
  name: 'principal session end',
  summary: 'End one of your sessions, or one of another user, with the tokens it got',
  arguments: [{ name: 'id', summary: 'The session’s id' }],
  options: {
    user: { type: 'string', value: 'id', summary: 'Another user’s object id' },
  },
  examples: ['principal session end 8a6e0804-2bd0-4672-b79d-d97027f9071a'],
  async run({ client }, values) {
    await client.request('DELETE', `${sessionsOf(values.user)}/${encodeURIComponent(values.id)}`)
  },
})
