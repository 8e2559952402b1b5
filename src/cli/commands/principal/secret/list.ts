/** `principal secret list`: lists the secrets of a service principal, without their values. */

import { member } from '../../../directory.ts'
import { printRows } from '../../../output/print.ts'
import { defineRemoteCommand } from '../../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'principal secret list',
  summary: 'List a service principal’s secrets, without their values',
  arguments: [{ name: 'id', summary: 'The service principal’s object id' }],
  options: {},
  examples: ['principal secret list 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run({ client }, values, context) {
    const path = `/directory/servicePrincipals/${encodeURIComponent(values.id)}/secrets`
    const rows = await client.list(path)
    printRows(context.terminal, rows, [
      { title: 'ID', of: member('id') },
      { title: 'CREATED', of: member('createdOn') },
      { title: 'EXPIRES', of: (row) => member('expiresOn')(row) || 'never' },
      { title: 'NAME', of: member('displayName') },
    ])
  },
})
