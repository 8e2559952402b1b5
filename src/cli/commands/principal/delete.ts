/** `principal delete`: deletes a principal with its memberships and credentials. */

import { type Command, defineCommand } from '../../command.ts'
import { findPrincipal } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'principal delete',
  summary: 'Delete a principal with its memberships and credentials',
  arguments: [{ name: 'id', summary: 'The principal’s object id' }],
  options: connectionOptions,
  examples: ['principal delete 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  confirm: async (_, { id }) => ({
    text: `Delete the principal ${id}, its memberships and credentials?`,
  }),
  async run(context, values) {
    const { client } = context.connect(values)
    const { path } = await findPrincipal(client, values.id)
    await client.request('DELETE', path)
    context.terminal.error(`Deleted ${values.id}.\n`)
    return 0
  },
})
