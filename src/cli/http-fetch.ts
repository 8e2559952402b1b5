/**
 * Requests of the command line over Node's own HTTP client. The built-in `fetch` does the same, but loading it takes as
 * long as the rest of a short command.
 */

import type { IncomingMessage } from 'node:http'
import type { Fetch } from '#client/client.ts'

export const httpFetch: Fetch = async (target, { method, headers, signal, body }) => {
  const isSecure = target.startsWith('https:')
  const { request } = isSecure ? await import('node:https') : await import('node:http')
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(target, { method, headers: { ...headers, ...length }, signal })
    sent.once('response', resolve).once('error', reject).end(body)
  })
  return { status: answer.statusCode ?? 0, headers: headersOf(answer), body: answer }
}

function headersOf({ headersDistinct }: IncomingMessage): Awaited<ReturnType<Fetch>>['headers'] {
  const known = new Map(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')]),
  )
  return {
    get: (name) => known.get(name.toLowerCase()) ?? null,
    has: (name) => known.has(name.toLowerCase()),
    [Symbol.iterator]: () => known.entries(),
  }
}
