/** `snapshot save`: saves everything in the store under a name. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { snapshotPath } from '../../snapshots.ts'

export const command = defineRemoteCommand({
  name: 'snapshot save',
  summary: 'Keep all that is stored, under a name',
  arguments: [{ name: 'name', summary: 'What the state is called' }],
  options: {},
  examples: ['snapshot save before'],
  async run({ client }, values, context) {
    const { body } = await client.request('PUT', snapshotPath(values.name))
    printRecord(context.terminal, body)
  },
})
