/** `fault clear`: removes a fault rule, or all. */

import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'fault clear',
  summary: 'End a rule by which things fail, or all of them',
  arguments: [{ name: 'id', summary: 'Of `fault list`; all when left out', required: false }],
  options: {},
  examples: ['fault clear', 'fault clear fault-2'],
  async run({ client }, values) {
    const path = values.id === undefined ? '' : `/${encodeURIComponent(values.id)}`
    await client.request('DELETE', `/_armature/faults${path}`)
  },
})
