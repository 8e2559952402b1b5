/** `consent confirm`: confirms the code that a browser came back with. */

import { authorizationPath, consentOptions, consentVersion } from '../../consent.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'consent confirm',
  summary: 'Confirm the code that a browser came back with',
  arguments: [
    { name: 'authorization', summary: 'The authorization' },
    { name: 'code', summary: 'The `consentCode` of the address the browser ended at' },
  ],
  options: consentOptions,
  examples: ['consent confirm me "$CODE" -g demo -s pets -p own'],
  async run(connection, values, context) {
    const path = await authorizationPath(connection, values, values.authorization)
    const body = { consentCode: values.code }
    await connection.client.request('POST', `${path}/confirmConsentCode`, {
      query: consentVersion,
      body,
    })
    context.terminal.error(`${values.authorization} is connected.\n`)
  },
})
