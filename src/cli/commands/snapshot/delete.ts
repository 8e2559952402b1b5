/** `snapshot delete`: removes a saved state. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { snapshotPath } from '../../snapshots.ts'

export const command: Command = defineCommand({
  name: 'snapshot delete',
  summary: 'Remove a saved state',
  arguments: [{ name: 'name', summary: 'What the state is called' }],
  options: connectionOptions,
  examples: ['snapshot delete before'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('DELETE', snapshotPath(values.name))
    printRecord(context.terminal, body)
    return 0
  },
})
