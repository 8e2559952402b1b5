/** `api operations`: lists the operations of an API. */

import { propertyOf } from '#client/resource.ts'
import { apis } from '../../api-management.ts'
import { member } from '../../directory.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'api operations',
  summary: 'List the operations of an API',
  arguments: [{ name: 'name', summary: 'The API' }],
  options: { ...apis.options },
  examples: ['api operations pets -g demo -s pets'],
  async run(connection, values, context) {
    const path = `${await apis.path(connection, values, values.name)}/operations`
    const query = { 'api-version': apis.version }
    printRows(context.terminal, await connection.client.list(path, { query }), [
      { title: 'NAME', of: member('name') },
      { title: 'METHOD', of: (row) => propertyOf(row, 'method') },
      { title: 'URL', of: (row) => propertyOf(row, 'urlTemplate') },
      { title: 'TITLE', of: (row) => propertyOf(row, 'displayName') },
    ])
  },
})
