/** `principal enable`: lets a disabled principal sign in and act again. */

import { type Command, defineCommand } from '../../command.ts'
import { findPrincipal } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'principal enable',
  summary: 'Let a disabled principal sign in and act again',
  arguments: [{ name: 'id', summary: 'The principal’s object id' }],
  options: connectionOptions,
  examples: ['principal enable 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run(context, values) {
    const { client } = context.connect(values)
    const { path } = await findPrincipal(client, values.id)
    const { body } = await client.request('PATCH', path, { body: { enabled: true } })
    printRecord(context.terminal, body)
    return 0
  },
})
