/** `stack create`: deploys a template as a stack, or changes a stack to another template. */

import { type Command, defineCommand } from '../../command.ts'
import { missingGroup } from '../../group-place.ts'
import { connectionOptions } from '../../options.ts'
import {
  endedStack,
  printStack,
  stackBody,
  stackOptions,
  stackPath,
  stackVersion,
} from '../../stacks.ts'

export const command: Command = defineCommand({
  name: 'stack create',
  summary: 'Carry a template out as a stack: what leaves it later is deleted or let go',
  arguments: [{ name: 'name', summary: 'The name of the stack' }],
  options: { ...stackOptions, ...connectionOptions },
  examples: [
    'stack create shop -g demo -f main.json --on-unmanage delete-resources',
    'stack create shop -g demo -f main.json --deny denyWriteAndDelete',
  ],
  confirm: missingGroup,
  async run(context, values) {
    const body = stackBody(context.terminal, values)
    const connection = context.connect(values)
    const path = await stackPath(connection, values, values.name)
    const query = { 'api-version': stackVersion }
    await connection.client.request('PUT', path, { query, body })
    return printStack(context.terminal, await endedStack(connection, path))
  },
})
