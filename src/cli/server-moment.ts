/** The installation's moment, which its owner may have moved. Spans and periods of commands go by it. */

import type { Connection } from './context.ts'

/** The header tells whole seconds. A clock that agrees with it so far is more exact. */
const agreesMilliseconds = 2000

export async function serverMoment({ client }: Pick<Connection, 'client'>): Promise<number> {
  const { headers } = await client.request('GET', '/healthz')
  const received = Date.parse(headers.get('date') ?? '')
  const own = client.timing.now()
  return Math.abs(received - own) > agreesMilliseconds ? received : own
}
