/** `consent link`: prints a login link for a person to open in a browser. */

import { authorizationPath, backOption, consentOptions, loginLink } from '../../consent.ts'
import { printText } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'consent link',
  summary: 'Print a login link for a person to open in a browser',
  arguments: [{ name: 'authorization', summary: 'The authorization' }],
  options: { ...consentOptions, ...backOption },
  examples: ['consent link me -g demo -s pets -p own --back-to http://127.0.0.1:3000/done'],
  async run(connection, values, context) {
    const path = await authorizationPath(connection, values, values.authorization)
    const backTo = values['back-to'] ?? `${connection.url}/consent/done`
    printText(context.terminal, await loginLink(connection, path, backTo))
  },
})
