/** `principal show`: shows a principal of any type. */

import { type Command, defineCommand } from '../../command.ts'
import { findPrincipal } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'principal show',
  summary: 'Show one principal',
  arguments: [{ name: 'id', summary: 'The principal’s object id' }],
  options: connectionOptions,
  examples: ['principal show 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { principal } = await findPrincipal(client, values.id)
    printRecord(context.terminal, principal)
    return 0
  },
})
