/** `secret list`: lists the secrets of a vault, without their values. */

import { propertyOf } from '#client/resource.ts'
import { member } from '../../directory.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { secretVersion, vaultOptions, vaultPath } from '../../secrets.ts'

export const command = defineRemoteCommand({
  name: 'secret list',
  summary: 'List the secrets of a vault, without their values',
  arguments: [],
  options: vaultOptions,
  examples: ['secret list --vault shop -g demo', 'secret list --vault shop -g demo --json'],
  async run(connection, values, context) {
    const path = `${await vaultPath(connection, values)}/secrets`
    const rows = await connection.client.list(path, { query: secretVersion })
    printRows(context.terminal, rows, [
      { title: 'NAME', of: member('name') },
      { title: 'VERSION', of: (row) => propertyOf(row, 'version') },
      { title: 'REFERENCE', of: (row) => propertyOf(row, 'secretUri') },
    ])
  },
})
