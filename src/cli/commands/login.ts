/** `login`: signs a person in on another screen (device code) and stores the session in the home folder. */

import { deviceCodeToken } from '#client/oauth.ts'
import { systemTiming } from '#client/timing.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import { type Command, defineCommand } from '../command.ts'
import { notRunning } from '../credential.ts'
import { bold } from '../output/print.ts'
import { printable } from '../output/table.ts'

export const command: Command = defineCommand({
  name: 'login',
  summary: 'Sign in to an installation as a person; later commands act as them',
  arguments: [],
  options: {
    url: {
      type: 'string',
      value: 'address',
      summary: 'The installation; the one running here when left out',
    },
    'client-id': {
      type: 'string',
      value: 'id',
      summary: 'The application that asks; the command line’s own when left out',
    },
    resource: {
      type: 'string',
      value: 'audience',
      summary: 'What the token is for; the control plane when left out',
    },
  },
  examples: ['login', 'login --url https://armature.example.com'],
  async run(context, values) {
    const home = context.home()
    const running = home.running()
    const given = values.url ?? running?.url
    const url = given === undefined ? undefined : withoutTrailing(given, '/')
    if (url === undefined) throw notRunning(home)
    const clientId = values['client-id'] ?? 'armature-cli'
    const token = await deviceCodeToken({
      url: running?.url === url ? (running.localUrl ?? url) : url,
      clientId,
      resource: values.resource,
      tell(prompt) {
        const code = bold(context.terminal, printable(prompt.userCode))
        const page = printable(prompt.completeUrl ?? prompt.verificationUrl)
        context.terminal.error(`Open ${page}\nand enter the code ${code} there.\n`)
      },
    })
    home.writeSession({
      url,
      clientId,
      accessToken: token.accessToken,
      expiresAt: systemTiming.now() + token.expiresInSeconds * 1000,
      ...(token.refreshToken === undefined ? {} : { refreshToken: token.refreshToken }),
    })
    context.terminal.error(`Signed in to ${url}. \`armature logout\` ends it.\n`)
    return 0
  },
})
