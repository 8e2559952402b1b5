/** `token`: prints only an access token, so that it can be used in `$(…)`. */

import { clientCredentialsToken } from '#client/oauth.ts'
import { type Command, defineCommand, LocalProblem, UsageError } from '../command.ts'
import { notRunning } from '../credential.ts'
import type { Home } from '../home.ts'
import { printText } from '../output/print.ts'
import { readPassword } from '../password.ts'

export const command: Command = defineCommand({
  name: 'token',
  summary: 'Print an access token: of the session, of the local owner, or of an application',
  arguments: [],
  options: {
    'client-id': { type: 'string', value: 'id', summary: 'The application to get a token for' },
    'client-secret': {
      type: 'string',
      value: 'where',
      summary: 'Its secret: `@file`, `-` for standard input, or `env:NAME`',
    },
    resource: {
      type: 'string',
      value: 'audience',
      summary: 'What the token is for; the control plane when left out',
    },
    url: { type: 'string', value: 'address', summary: 'The installation to ask' },
  },
  examples: [
    'token',
    'token --client-id 1b4e28ba-2fa1-41d2-883f-0016d3cca427 --client-secret env:CLIENT_SECRET',
  ],
  async run(context, values) {
    const clientId = values['client-id']
    const secret = values['client-secret']
    if ((clientId === undefined) !== (secret === undefined)) {
      throw new UsageError('`--client-id` and `--client-secret` are given together')
    }
    const { url, resource } = values
    const home = context.home()
    let token: string
    if (clientId !== undefined && secret !== undefined) {
      const clientSecret = await readPassword(context, 'client-secret', secret)
      const at = url ?? home.session()?.url ?? reachOf(home)
      token = (await clientCredentialsToken({ url: at, clientId, clientSecret, resource }))
        .accessToken
    } else if (resource !== undefined) {
      token = await ownerToken(home, resource)
    } else {
      const connection = context.connect({ url, token: undefined })
      // Another than the kept one, which may be near its end.
      token = await connection.token(await connection.token())
    }
    printText(context.terminal, token)
    return 0
  },
})

function reachOf(home: Home): string {
  const running = home.running()
  if (running === undefined) throw notRunning(home)
  return running.localUrl ?? running.url
}

/** A session's token is for the audience of its sign-in; for another audience the owner's token is used. */
async function ownerToken(home: Home, resource: string): Promise<string> {
  const owner = home.owner()
  if (owner === undefined) {
    throw new LocalProblem(
      'NoCredential',
      `${home.folder} holds no owner. Give --client-id and --client-secret for a token for ${resource}.`,
    )
  }
  const { clientId, clientSecret } = owner
  const url = reachOf(home)
  return (await clientCredentialsToken({ url, clientId, clientSecret, resource })).accessToken
}
