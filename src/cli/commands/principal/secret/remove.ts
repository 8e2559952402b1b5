/** `principal secret remove`: removes a secret. It gets no more tokens, and its tokens end. */

import { defineRemoteCommand } from '../../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'principal secret remove',
  summary: 'Take a secret away from a service principal',
  arguments: [
    { name: 'id', summary: 'The service principal’s object id' },
    { name: 'secret-id', summary: 'The secret’s id, as `principal secret list` shows it' },
  ],
  options: {},
  examples: [
    'principal secret remove 1b4e28ba-2fa1-41d2-883f-0016d3cca427 6fa459ea-ee8a-4ca4-894e-db77e160355e',
  ],
  async run({ client }, values, context) {
    const id = encodeURIComponent(values.id)
    const secret = encodeURIComponent(values['secret-id'])
    await client.request('DELETE', `/directory/servicePrincipals/${id}/secrets/${secret}`)
    context.terminal.error('The secret is removed.\n')
  },
})
