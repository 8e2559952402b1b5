/** `principal list`: lists the principals of the directory. */

import { collections, member, principalTypes } from '../../directory.ts'
import { printRows } from '../../output/print.ts'
import { principalColumns } from '../../principal-columns.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'principal list',
  summary: 'List the principals of the directory',
  arguments: [],
  options: {
    type: {
      type: 'string',
      value: 'type',
      choices: principalTypes,
      summary: 'Only this kind; all when left out',
    },
    name: { type: 'string', value: 'text', summary: 'Only those with this display name' },
  },
  examples: ['principal list', 'principal list --type ServicePrincipal --json'],
  async run({ client }, values, context) {
    const rows: unknown[] = []
    for (const [type, collection] of Object.entries(collections)) {
      if (values.type !== undefined && values.type !== type) continue
      for await (const item of client.items(collection)) {
        if (values.name === undefined || member('displayName')(item) === values.name)
          rows.push(item)
      }
    }
    printRows(context.terminal, rows, principalColumns)
  },
})
