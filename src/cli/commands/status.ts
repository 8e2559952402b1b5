/** `status`: prints the address of this home's installation, after checking that it answers. */

import { createClient } from '#client/client.ts'
import { ConnectionFailure } from '#client/client-error.ts'
import { type Command, defineCommand, LocalProblem } from '../command.ts'
import { notRunning } from '../credential.ts'
import { printRecord } from '../output/print.ts'

export const command: Command = defineCommand({
  name: 'status',
  summary: 'Where the installation of this home runs, and its first subscription',
  arguments: [],
  options: {},
  examples: ['status', 'status --json'],
  async run(context) {
    const home = context.home()
    const running = home.running()
    if (running === undefined) throw notRunning(home)
    const reach = running.localUrl ?? running.url
    const client = createClient({ url: reach, timeoutSeconds: 5 })
    try {
      await client.request('GET', '/healthz')
    } catch (error) {
      // Without an answer, the server ended and left its file. Other errors are reported as they are.
      if (!(error instanceof ConnectionFailure)) throw error
      throw new LocalProblem(
        'NotRunning',
        `The installation with the home ${home.folder} does not answer at ${reach}; it may have ended. Start it with \`npm start\` or \`npx armature serve\`.`,
        { cause: error },
      )
    }
    const { url, httpUrl, httpsUrl, authorityFile } = running
    const { tenantId, subscriptionId, principalId } = running
    printRecord(context.terminal, {
      url,
      ...(httpUrl === undefined ? {} : { httpUrl }),
      ...(httpsUrl === undefined ? {} : { httpsUrl }),
      ...(authorityFile === undefined ? {} : { authorityFile }),
      tenantId,
      subscriptionId,
      principalId,
    })
    return 0
  },
})
