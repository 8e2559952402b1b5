/** `consent confirm`: confirms the code that a browser came back with. */

import { type Command, defineCommand } from '../../command.ts'
import { authorizationPath, consentOptions, consentVersion } from '../../consent.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'consent confirm',
  summary: 'Confirm the code that a browser came back with',
  arguments: [
    { name: 'authorization', summary: 'The authorization' },
    { name: 'code', summary: 'The `consentCode` of the address the browser ended at' },
  ],
  options: { ...consentOptions, ...connectionOptions },
  examples: ['consent confirm me "$CODE" -g demo -s pets -p own'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await authorizationPath(connection, values, values.authorization)
    const body = { consentCode: values.code }
    await connection.client.request('POST', `${path}/confirmConsentCode`, {
      query: consentVersion,
      body,
    })
    context.terminal.error(`${values.authorization} is connected.\n`)
    return 0
  },
})
