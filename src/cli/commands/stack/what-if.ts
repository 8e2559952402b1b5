/** `stack what-if`: shows what a stack would change, delete and detach, and changes nothing. */

import { listOf, propertiesOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printData } from '../../output/print.ts'
import { stackBody, stackOptions, stackPath, stackVersion } from '../../stacks.ts'
import { changeLines } from '../../what-if.ts'

export const command: Command = defineCommand({
  name: 'stack what-if',
  summary: 'Show what a stack would change, delete and let go',
  arguments: [{ name: 'name', summary: 'The name of the stack' }],
  options: { ...stackOptions, ...connectionOptions },
  examples: ['stack what-if shop -g demo -f main.json --on-unmanage delete-resources'],
  async run(context, values) {
    const { terminal } = context
    const body = stackBody(terminal, values)
    const connection = context.connect(values)
    const path = await stackPath(connection, values, values.name)
    const query = { 'api-version': stackVersion }
    const answer = (await connection.client.request('POST', `${path}/whatIf`, { query, body })).body
    if (terminal.output.isData) printData(terminal, answer)
    else {
      const lines = changeLines(terminal, listOf(propertiesOf(answer), 'changes'), false)
      terminal.out(lines.map((line) => `${line}\n`).join(''))
    }
    return 0
  },
})
