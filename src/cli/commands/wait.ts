/** `wait`: waits until the server is ready, or until a resource has reached a state. For scripts. */

import { propertyOf } from '#client/resource.ts'
import { type Command, defineCommand, LocalProblem } from '../command.ts'
import { connectionOptions } from '../options.ts'
import { isReady, isReadyAt, readSeconds, waitUntil } from '../running-server.ts'

export const command: Command = defineCommand({
  name: 'wait',
  summary: 'Wait until the server is ready, or until a resource is',
  notes:
    () => `Without a path it waits for the server. A resource is ready when its provisioningState is Succeeded, or
when it has none; one that Failed ends the wait with the exit code 1.`,
  arguments: [
    {
      name: 'path',
      required: false,
      summary: 'A resource with its api-version; the server when left out',
    },
  ],
  options: {
    for: {
      type: 'string',
      value: 'what',
      choices: ['ready', 'deleted'],
      summary: 'What of the resource; ready when left out',
    },
    timeout: { type: 'string', value: 'seconds', summary: 'How long; 60 when left out' },
    ...connectionOptions,
  },
  examples: ['wait --timeout 30', 'wait "$ID?api-version=2023-05-01" --for deleted'],
  async run(context, values) {
    const { path, url, timeout = '60', for: wanted = 'ready' } = values
    const seconds = readSeconds(timeout)
    let look = async (): Promise<boolean> =>
      url === undefined ? isReady(context.home()) : isReadyAt(url)
    if (path !== undefined) {
      const { client } = context.connect(values)
      look = async () => {
        const answer = await client.send('GET', path)
        if (answer.status === 404) return wanted === 'deleted'
        // Any other refusal is reported.
        const { body } = answer.status === 200 ? answer : await client.request('GET', path)
        const state = propertyOf(body, 'provisioningState')
        if (wanted === 'ready' && /^(?:Failed|Canceled)$/.test(state)) {
          throw new LocalProblem('EndedBadly', `Its provisioningState is ${state}.`)
        }
        return wanted === 'ready' && (state === '' || state === 'Succeeded')
      }
    }
    if (await waitUntil(seconds, look)) return 0
    throw new LocalProblem('StillWaiting', `It is not ${wanted} after ${seconds} seconds.`)
  },
})
