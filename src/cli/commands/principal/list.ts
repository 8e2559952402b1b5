/** `principal list`: lists the principals of the directory. */

import { type Command, defineCommand } from '../../command.ts'
import { collections, member, principalTypes } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { principalColumns } from '../../principal-columns.ts'

export const command: Command = defineCommand({
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
    ...connectionOptions,
  },
  examples: ['principal list', 'principal list --type ServicePrincipal --json'],
  async run(context, values) {
    const { client } = context.connect(values)
    const rows: unknown[] = []
    for (const [type, collection] of Object.entries(collections)) {
      if (values.type !== undefined && values.type !== type) continue
      for await (const item of client.items(collection)) {
        if (values.name === undefined || member('displayName')(item) === values.name)
          rows.push(item)
      }
    }
    printRows(context.terminal, rows, principalColumns)
    return 0
  },
})
