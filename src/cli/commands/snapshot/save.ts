/** `snapshot save`: saves everything in the store under a name. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { snapshotPath } from '../../snapshots.ts'

export const command: Command = defineCommand({
  name: 'snapshot save',
  summary: 'Keep all that is stored, under a name',
  arguments: [{ name: 'name', summary: 'What the state is called' }],
  options: connectionOptions,
  examples: ['snapshot save before'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('PUT', snapshotPath(values.name))
    printRecord(context.terminal, body)
    return 0
  },
})
