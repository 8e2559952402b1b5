/** HTTP requests to addresses that users named. One bounded answer is read, and the caller handles redirects. */

import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { receiveAll } from '#kernel/received-bytes.ts'
import { plainConnection } from './agents.ts'
import { type Destination, destinationOf, type Outbound, type Route } from './outbound.ts'
import { SecureConnections } from './tls-thread/secure-connection.ts'

interface OutboundRequest {
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  /** A request with a body is a POST, one without a GET. */
  readonly body?: string
  readonly signal: AbortSignal
  /** The id of whom it is for, a principal or a resource group: TLS handshakes take turns by owner. */
  readonly owner?: string
}

/** The answer has more bytes than allowed. */
export class TooLarge extends Error {}

const connections = new SecureConnections()

/** Rejects with `NotReached`. */
export async function answerOf(
  outbound: Outbound,
  { url, headers, body, signal, owner }: OutboundRequest,
): Promise<IncomingMessage> {
  const destination = destinationOf(url)
  const { host, port, addresses, lookup } = await routeTo(outbound, destination, signal)
  const isSecure = url.protocol === 'https:'
  const send = isSecure ? requestSecure : requestPlain
  const target = { host, port, addresses, name: host, isChecked: true, owner }
  const options = {
    method: body === undefined ? 'GET' : 'POST',
    headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers },
    signal,
    // Without an agent: a connection of another request is never reused.
    createConnection: () =>
      isSecure ? connections.open(target) : plainConnection({ host, port, lookup }, owner),
  }
  try {
    return await new Promise((resolve, reject) => {
      const call = send(url, options, (answer) => {
        // The client ends its own half alone: the other side might leave its half open for ever, and go on sending.
        const { socket } = answer
        answer.once('close', () => socket.destroy())
        resolve(answer)
      })
      call.once('error', reject)
      requireFinalAnswer(call)
      call.end(body)
    })
  } catch (error) {
    throw outbound.failed(destination, error)
  }
}

/** The system's resolver cannot be ended, and may wait for longer than whoever waits for the answer. */
async function routeTo(
  outbound: Outbound,
  destination: Destination,
  signal: AbortSignal,
): Promise<Route> {
  const ended = Promise.withResolvers<never>()
  const end = (): void => ended.reject(signal.reason)
  signal.addEventListener('abort', end)
  try {
    signal.throwIfAborted()
    return await Promise.race([outbound.route(destination, signal), ended.promise])
  } catch (error) {
    throw outbound.failed(destination, error)
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Answers of the statuses 100 to 199 that may come before the final one. Others send one or two. */
const informationalMax = 20

function ignore(): void {}

/** Fails a call that is answered with another protocol, which would never end, or with informational answers only. */
export function requireFinalAnswer(call: ClientRequest): void {
  // An answer may be wrong in several ways at once, and an error that nobody listens for ends the process. The first one is the
  // caller's; after another protocol the platform takes its own listener off the socket.
  call.on('error', () => undefined)
  call.on('socket', (socket) => {
    // A connection that is used again has it already.
    if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore)
  })
  let informational = 0
  call.on('information', () => {
    informational++
    if (informational > informationalMax) call.destroy(new Error('it answers without end'))
  })
  call.once('upgrade', (_, socket) => {
    socket.destroy()
    // The client counts such a call as ended and emits nothing more.
    call.emit('error', new Error('it answered with another protocol'))
  })
}

/** Rejects with `TooLarge`, or with the error of a broken connection. */
export async function textOf(answer: IncomingMessage, bytesMax: number): Promise<string> {
  const bytes = await receiveAll(answer, bytesMax)
  if (bytes !== undefined) return Buffer.from(bytes).toString('utf8')
  answer.destroy()
  throw new TooLarge(`it is larger than ${bytesMax} bytes, or comes in too many chunks`)
}
