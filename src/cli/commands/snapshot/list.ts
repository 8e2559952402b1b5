/** `snapshot list`: lists the saved states. */

import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'snapshot list',
  summary: 'List the states that were saved',
  arguments: [],
  options: {},
  examples: ['snapshot list'],
  async run({ client }, _values, context) {
    const { body } = await client.request('GET', '/_armature/snapshots')
    printRows(context.terminal, listOf(body, 'value'), [
      { title: 'NAME', of: (row) => textOf(row, 'name') ?? '' },
      { title: 'SAVED', of: (row) => textOf(row, 'savedAt') ?? '' },
      { title: 'BYTES', of: (row) => String(Object(row)['bytes']) },
    ])
  },
})
