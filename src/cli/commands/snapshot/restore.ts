/** `snapshot restore`: restores a saved state while the server runs. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { snapshotPath } from '../../snapshots.ts'

export const command = defineRemoteCommand({
  name: 'snapshot restore',
  summary: 'Bring a saved state back; engines follow',
  arguments: [{ name: 'name', summary: 'What the state is called' }],
  options: {},
  examples: ['snapshot restore before'],
  confirm: async (_, { name }) => ({
    text: `Bring back the state ${name}? All that is there now is lost.`,
  }),
  async run({ client }, values, context) {
    const { body } = await client.request('POST', `${snapshotPath(values.name)}/restore`)
    printRecord(context.terminal, body)
  },
})
