/** `stack show`: shows a stack with the resources it manages. */

import { defineRemoteCommand } from '../../remote-command.ts'
import { scopeOptions } from '../../scope-place.ts'
import { printStack, stackPath, stackVersion } from '../../stacks.ts'

export const command = defineRemoteCommand({
  name: 'stack show',
  summary: 'Show a stack and what it manages',
  arguments: [{ name: 'name', summary: 'The name of the stack' }],
  options: scopeOptions,
  examples: ['stack show shop -g demo'],
  async run(connection, values, context) {
    const path = await stackPath(connection, values, values.name)
    const query = { 'api-version': stackVersion }
    const { body } = await connection.client.request('GET', path, { query })
    return printStack(context.terminal, body)
  },
})
