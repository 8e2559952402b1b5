/** `stack export`: prints the template of a stack as it was given. */

import { isJsonObject } from '#kernel/patch.ts'
import { printData } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { scopeOptions } from '../../scope-place.ts'
import { stackPath, stackVersion } from '../../stacks.ts'

export const command = defineRemoteCommand({
  name: 'stack export',
  summary: 'Print the template of a stack',
  arguments: [{ name: 'name', summary: 'The name of the stack' }],
  options: scopeOptions,
  examples: ['stack export shop -g demo'],
  async run(connection, values, context) {
    const path = await stackPath(connection, values, values.name)
    const query = { 'api-version': stackVersion }
    const { body } = await connection.client.request('POST', `${path}/exportTemplate`, { query })
    printData(context.terminal, isJsonObject(body) ? body['template'] : body)
  },
})
