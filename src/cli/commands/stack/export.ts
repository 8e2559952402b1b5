/** `stack export`: prints the template of a stack as it was given. */

import { isJsonObject } from '#kernel/patch.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printData } from '../../output/print.ts'
import { scopeOptions } from '../../scope-place.ts'
import { stackPath, stackVersion } from '../../stacks.ts'

export const command: Command = defineCommand({
  name: 'stack export',
  summary: 'Print the template of a stack',
  arguments: [{ name: 'name', summary: 'The name of the stack' }],
  options: { ...scopeOptions, ...connectionOptions },
  examples: ['stack export shop -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await stackPath(connection, values, values.name)
    const query = { 'api-version': stackVersion }
    const { body } = await connection.client.request('POST', `${path}/exportTemplate`, { query })
    printData(context.terminal, isJsonObject(body) ? body['template'] : body)
    return 0
  },
})
