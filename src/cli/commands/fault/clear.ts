/** `fault clear`: removes a fault rule, or all. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'fault clear',
  summary: 'End a rule by which things fail, or all of them',
  arguments: [{ name: 'id', summary: 'Of `fault list`; all when left out', required: false }],
  options: connectionOptions,
  examples: ['fault clear', 'fault clear fault-2'],
  async run(context, values) {
    const { client } = context.connect(values)
    const path = values.id === undefined ? '' : `/${encodeURIComponent(values.id)}`
    await client.request('DELETE', `/_armature/faults${path}`)
    return 0
  },
})
