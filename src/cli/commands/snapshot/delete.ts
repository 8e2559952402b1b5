/** `snapshot delete`: removes a saved state. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { snapshotPath } from '../../snapshots.ts'

export const command = defineRemoteCommand({
  name: 'snapshot delete',
  summary: 'Remove a saved state',
  arguments: [{ name: 'name', summary: 'What the state is called' }],
  options: {},
  examples: ['snapshot delete before'],
  async run({ client }, values, context) {
    const { body } = await client.request('DELETE', snapshotPath(values.name))
    printRecord(context.terminal, body)
  },
})
