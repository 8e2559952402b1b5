/** `stack show`: shows a stack with the resources it manages. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { scopeOptions } from '../../scope-place.ts'
import { printStack, stackPath, stackVersion } from '../../stacks.ts'

export const command: Command = defineCommand({
  name: 'stack show',
  summary: 'Show a stack and what it manages',
  arguments: [{ name: 'name', summary: 'The name of the stack' }],
  options: { ...scopeOptions, ...connectionOptions },
  examples: ['stack show shop -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await stackPath(connection, values, values.name)
    const query = { 'api-version': stackVersion }
    const { body } = await connection.client.request('GET', path, { query })
    return printStack(context.terminal, body)
  },
})
