/** `snapshot export`: writes a saved state to a file. */

import { writeFileSync } from 'node:fs'
import { textOf } from '#client/answer.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { snapshotPath } from '../../snapshots.ts'

export const command = defineRemoteCommand({
  name: 'snapshot export',
  summary: 'Write a saved state to a file, which holds hashes of secrets',
  arguments: [
    { name: 'name', summary: 'What the state is called' },
    { name: 'file', summary: 'Where to; it is written anew' },
  ],
  options: {},
  examples: ['snapshot export before before.state'],
  async run({ client }, values, context) {
    const { body } = await client.request('GET', `${snapshotPath(values.name)}/content`)
    const content = Buffer.from(textOf(body, 'content') ?? '', 'base64')
    writeFileSync(values.file, content, { mode: 0o600 })
    context.terminal.error(`${content.length} bytes in ${values.file}\n`)
  },
})
