/** `consent link`: prints a login link for a person to open in a browser. */

import { type Command, defineCommand } from '../../command.ts'
import { authorizationPath, backOption, consentOptions, loginLink } from '../../consent.ts'
import { connectionOptions } from '../../options.ts'
import { printText } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'consent link',
  summary: 'Print a login link for a person to open in a browser',
  arguments: [{ name: 'authorization', summary: 'The authorization' }],
  options: { ...consentOptions, ...backOption, ...connectionOptions },
  examples: ['consent link me -g demo -s pets -p own --back-to http://127.0.0.1:3000/done'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await authorizationPath(connection, values, values.authorization)
    const backTo = values['back-to'] ?? `${connection.url}/consent/done`
    printText(context.terminal, await loginLink(connection, path, backTo))
    return 0
  },
})
