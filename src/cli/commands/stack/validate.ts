/** `stack validate`: checks a stack, its template and each of its resources, and changes nothing. */

import { textOf } from '#client/answer.ts'
import { listOf, propertiesOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { stackBody, stackOptions, stackPath, stackVersion } from '../../stacks.ts'

export const command: Command = defineCommand({
  name: 'stack validate',
  summary: 'Check a stack, its template and what would become of each resource',
  arguments: [{ name: 'name', summary: 'The name of the stack' }],
  options: { ...stackOptions, ...connectionOptions },
  examples: ['stack validate shop -g demo -f main.json'],
  async run(context, values) {
    const body = stackBody(context.terminal, values)
    const connection = context.connect(values)
    const path = await stackPath(connection, values, values.name)
    const query = { 'api-version': stackVersion }
    const { body: answer } = await connection.client.request('POST', `${path}/validate`, {
      query,
      body,
    })
    const rows = listOf(propertiesOf(answer), 'validatedResources')
    printRows(context.terminal, rows, [
      { title: 'VALID RESOURCE', of: (row) => textOf(row, 'id') ?? '' },
    ])
    return 0
  },
})
