/** `snapshot list`: lists the saved states. */

import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'snapshot list',
  summary: 'List the states that were saved',
  arguments: [],
  options: connectionOptions,
  examples: ['snapshot list'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { body } = await client.request('GET', '/_armature/snapshots')
    printRows(context.terminal, listOf(body, 'value'), [
      { title: 'NAME', of: (row) => textOf(row, 'name') ?? '' },
      { title: 'SAVED', of: (row) => textOf(row, 'savedAt') ?? '' },
      { title: 'BYTES', of: (row) => String(Object(row)['bytes']) },
    ])
    return 0
  },
})
