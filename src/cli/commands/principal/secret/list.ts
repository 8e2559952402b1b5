/** `principal secret list`: lists the secrets of a service principal, without their values. */

import { type Command, defineCommand } from '../../../command.ts'
import { member } from '../../../directory.ts'
import { connectionOptions } from '../../../options.ts'
import { printRows } from '../../../output/print.ts'

export const command: Command = defineCommand({
  name: 'principal secret list',
  summary: 'List a service principal’s secrets, without their values',
  arguments: [{ name: 'id', summary: 'The service principal’s object id' }],
  options: connectionOptions,
  examples: ['principal secret list 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run(context, values) {
    const { client } = context.connect(values)
    const path = `/directory/servicePrincipals/${encodeURIComponent(values.id)}/secrets`
    const rows = await client.list(path)
    printRows(context.terminal, rows, [
      { title: 'ID', of: member('id') },
      { title: 'CREATED', of: member('createdOn') },
      { title: 'EXPIRES', of: (row) => member('expiresOn')(row) || 'never' },
      { title: 'NAME', of: member('displayName') },
    ])
    return 0
  },
})
