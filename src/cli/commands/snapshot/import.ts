/** `snapshot import`: reads a saved state from a file, to be restored by its name. */

import { readFileSync } from 'node:fs'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { snapshotPath } from '../../snapshots.ts'

/** A body has 4 MB at most, and base64 takes a third more. */
const chunkBytes = 2 * 1024 * 1024

export const command = defineRemoteCommand({
  name: 'snapshot import',
  summary: 'Take a saved state from a file; `snapshot restore` brings it back',
  arguments: [
    { name: 'name', summary: 'What the state shall be called' },
    { name: 'file', summary: 'Written by `snapshot export`' },
  ],
  options: {},
  examples: ['snapshot import before before.state'],
  async run({ client }, values, context) {
    const state = readFileSync(values.file)
    const path = `${snapshotPath(values.name)}/content`
    let answered: unknown
    for (let at = 0; at === 0 || at < state.length; at += chunkBytes) {
      const content = state.subarray(at, at + chunkBytes).toString('base64')
      const chunk = { content, at, total: state.length }
      answered = (await client.request('PUT', path, { body: chunk })).body
    }
    printRecord(context.terminal, answered)
  },
})
