/** `secret list`: lists the secrets of a vault, without their values. */

import { propertyOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../command.ts'
import { member } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { secretVersion, vaultOptions, vaultPath } from '../../secrets.ts'

export const command: Command = defineCommand({
  name: 'secret list',
  summary: 'List the secrets of a vault, without their values',
  arguments: [],
  options: { ...vaultOptions, ...connectionOptions },
  examples: ['secret list --vault shop -g demo', 'secret list --vault shop -g demo --json'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = `${await vaultPath(connection, values)}/secrets`
    const rows = await connection.client.list(path, { query: secretVersion })
    printRows(context.terminal, rows, [
      { title: 'NAME', of: member('name') },
      { title: 'VERSION', of: (row) => propertyOf(row, 'version') },
      { title: 'REFERENCE', of: (row) => propertyOf(row, 'secretUri') },
    ])
    return 0
  },
})
