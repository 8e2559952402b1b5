/** `snapshot restore`: restores a saved state while the server runs. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { snapshotPath } from '../../snapshots.ts'

export const command: Command = defineCommand({
  name: 'snapshot restore',
  summary: 'Bring a saved state back; engines follow',
  arguments: [{ name: 'name', summary: 'What the state is called' }],
  options: connectionOptions,
  examples: ['snapshot restore before'],
  confirm: async (_, { name }) => ({
    text: `Bring back the state ${name}? All that is there now is lost.`,
  }),
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('POST', `${snapshotPath(values.name)}/restore`)
    printRecord(context.terminal, body)
    return 0
  },
})
