/** `api operations`: lists the operations of an API. */

import { propertyOf } from '#client/resource.ts'
import { apis } from '../../api-management.ts'
import { type Command, defineCommand } from '../../command.ts'
import { member } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'api operations',
  summary: 'List the operations of an API',
  arguments: [{ name: 'name', summary: 'The API' }],
  options: { ...apis.options, ...connectionOptions },
  examples: ['api operations pets -g demo -s pets'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = `${await apis.path(connection, values, values.name)}/operations`
    const query = { 'api-version': apis.version }
    printRows(context.terminal, await connection.client.list(path, { query }), [
      { title: 'NAME', of: member('name') },
      { title: 'METHOD', of: (row) => propertyOf(row, 'method') },
      { title: 'URL', of: (row) => propertyOf(row, 'urlTemplate') },
      { title: 'TITLE', of: (row) => propertyOf(row, 'displayName') },
    ])
    return 0
  },
})
