/** `snapshot import`: reads a saved state from a file, to be restored by its name. */

import { readFileSync } from 'node:fs'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { snapshotPath } from '../../snapshots.ts'

export const command: Command = defineCommand({
  name: 'snapshot import',
  summary: 'Take a saved state from a file; `snapshot restore` brings it back',
  arguments: [
    { name: 'name', summary: 'What the state shall be called' },
    { name: 'file', summary: 'Written by `snapshot export`' },
  ],
  options: connectionOptions,
  examples: ['snapshot import before before.state'],
  async run(context, values) {
    const { client } = context.connect(values)
    const content = readFileSync(values.file).toString('base64')
    const path = `${snapshotPath(values.name)}/content`
    const { body } = await client.request('PUT', path, { body: { content } })
    printRecord(context.terminal, body)
    return 0
  },
})
