/** `fault list`: lists the fault rules, and what each was applied to. */

import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'fault list',
  summary: 'List the rules by which things fail, and how often they did',
  notes: () => 'With --json also the last requests that each rule met.',
  arguments: [],
  options: {},
  examples: ['fault list', 'fault list --json'],
  async run({ client }, _values, context) {
    const { body } = await client.request('GET', '/_armature/faults')
    printRows(context.terminal, listOf(body, 'value'), [
      { title: 'ID', of: (row) => textOf(row, 'id') ?? '' },
      { title: 'MET', of: (row) => String(Object(row)['met']) },
      { title: 'RULE', of: (row) => JSON.stringify(Object(row)['rule']) },
    ])
  },
})
