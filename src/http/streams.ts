/**
 * Conversations over web sockets. An answer names an address below `/streams/` and a password, each good once and for
 * a short time; whoever sends that password first gets the conversation. The permission of the request is checked
 * again when it begins, and the conversation ends when it is gone. All state is in memory of this process: with
 * replicas, a client must reach the one that answered.
 */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { refuse } from '#kernel/error.ts'
import type { Clock, Ids, Log } from '#kernel/ports.ts'
import type { Permission } from '#plane/access.ts'
import type { PermissionWatch } from './permission-watch.ts'
import {
  createWebSocketAcceptor,
  refuseUpgrade,
  type WebSocket,
  type WebSocketLimits,
} from './web-socket/accept-web-socket.ts'

/** The other end of a conversation. Disposing it closes its connection. */
export interface Conversation extends AsyncDisposable {
  /** Its output, until it ends. Read once. */
  readonly output: AsyncIterable<{ readonly bytes: Uint8Array }>
  write(bytes: Uint8Array): Promise<void>
  /** No more input. */
  end(): void
  /** Called when `output` has ended; undefined where there is no exit code. */
  exitCode(): Promise<number | undefined>
}

export interface Offer {
  readonly webSocketUri: string
  /** The first message of the client. */
  readonly password: string
}

/** Upgrades of connections below a path. */
export interface UpgradeMount {
  /** With a slash at its end. */
  readonly prefix: string
  /** Owns the socket from here on. Never throws. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Called when the server is about to close: no new ones begin, and open ones end soon. */
  end(): void
}

export interface Streams extends UpgradeMount {
  /**
   * `open` is called when the client has come with the password. Throws `ServiceUnavailable` when too many wait, of
   * this principal or of all. `publicUrl` is the address by which the client came.
   */
  offer(open: () => Promise<Conversation>, permission: Permission, publicUrl?: string): Offer
}

export interface StreamLimits extends WebSocketLimits {
  /** Offers that nobody has accepted yet. */
  readonly offersMax: number
  /** Offers and sessions of one principal together. */
  readonly perPrincipalMax: number
  readonly offerSeconds: number
  /** Seconds between the connection and the password. */
  readonly passwordSeconds: number
  readonly sessionsMax: number
  readonly sessionSeconds: number
}

export const defaultStreamLimits: StreamLimits = Object.freeze({
  messageBytesMax: 64 * 1024,
  fragmentsMax: 1024,
  waitingBytesMax: 256 * 1024,
  waitingPongsMax: 1024,
  pingSeconds: 30,
  closeSeconds: 2,
  offersMax: 1000,
  perPrincipalMax: 50,
  offerSeconds: 60,
  passwordSeconds: 10,
  sessionsMax: 200,
  sessionSeconds: 4 * 3600,
})

export interface StreamDependencies {
  readonly ids: Ids
  readonly clock: Clock
  readonly log: Log
  readonly permissions: PermissionWatch
  /** Origin that clients reach, without a slash at its end. */
  publicUrl(): string
  readonly limits?: Partial<StreamLimits>
}

interface Waiting {
  readonly password: string
  readonly expiresAt: number
  readonly open: () => Promise<Conversation>
  readonly permission: Permission
}

const prefix = '/streams/'
const closing = { normal: 1000, away: 1001, policy: 1008, fault: 1011 } as const

export function createStreams(deps: StreamDependencies): Streams {
  const { ids, clock, log, permissions } = deps
  const limits = { ...defaultStreamLimits, ...deps.limits }
  const acceptWebSocket = createWebSocketAcceptor(limits)
  const offers = new Map<string, Waiting>()
  /** Each with its principal. */
  const sessions = new Map<WebSocket, string>()
  let ended = false

  function takeOffer(id: string): Waiting | undefined {
    const offer = offers.get(id)
    offers.delete(id)
    return offer !== undefined && offer.expiresAt > clock.now() ? offer : undefined
  }

  async function serve(socket: WebSocket, offer: Waiting): Promise<void> {
    const messages = socket.messages[Symbol.asyncIterator]()
    const late = setTimeout(
      () => socket.close(closing.policy, 'no password came'),
      limits.passwordSeconds * 1000,
    )
    const first = await messages.next()
    clearTimeout(late)
    if (first.done === true) return
    if (!isSame(first.value.toString('utf8'), offer.password)) {
      socket.close(closing.policy, 'the password is wrong')
      return
    }
    using watched = new DisposableStack()
    const lost = (reason: string): void => socket.close(closing.policy, reason)
    watched.defer(permissions.watch(offer.permission, lost))
    const answer = await offer.permission.ask()
    if (!answer.holds) {
      lost(answer.reason)
      return
    }
    await using conversation = await offer.open()
    // When the client leaves, waiting for output ends too.
    const input = forwardInput(messages, conversation)
    const said = sendOutput(conversation, socket)
    const outcome = await Promise.race([said, input, socket.closed])
    socket.close(closing.normal, outcome === undefined ? '' : `exit code ${outcome}`)
  }

  return {
    prefix,
    offer(open, permission, publicUrl = deps.publicUrl()) {
      const now = clock.now()
      for (const [id, { expiresAt }] of offers) {
        // In order of expiry, so the first valid one ends the search.
        if (expiresAt > now) break
        offers.delete(id)
      }
      if (ended || offers.size >= limits.offersMax) {
        throw refuse.ServiceUnavailable({ reason: 'too many streams wait for their client' })
      }
      const { principalId } = permission
      let own = 0
      for (const waiting of offers.values()) {
        if (waiting.permission.principalId === principalId) own += 1
      }
      for (const sessionOf of sessions.values()) if (sessionOf === principalId) own += 1
      if (own >= limits.perPrincipalMax) {
        throw refuse.ServiceUnavailable({ reason: 'too many streams of this principal are open' })
      }
      const id = ids.secret(16)
      const password = ids.secret(32)
      offers.set(id, { password, open, permission, expiresAt: now + limits.offerSeconds * 1000 })
      return { webSocketUri: `${publicUrl.replace(/^http/, 'ws')}${prefix}${id}`, password }
    },
    accept(request, socket, head) {
      const path = (request.url ?? '').split('?')[0] ?? ''
      if (ended || sessions.size >= limits.sessionsMax) {
        refuseUpgrade(socket, 503, 'Service Unavailable', 'Retry-After: 10\r\n')
        return
      }
      const offer = takeOffer(path.slice(prefix.length))
      if (offer === undefined) {
        refuseUpgrade(socket, 404, 'Not Found')
        return
      }
      const accepted = acceptWebSocket({ request, socket, head })
      if (accepted === undefined) return
      sessions.set(accepted, offer.permission.principalId)
      const longest = setTimeout(
        () => accepted.close(closing.policy, `a stream lasts ${limits.sessionSeconds} seconds`),
        limits.sessionSeconds * 1000,
      )
      longest.unref()
      void accepted.closed.then(() => {
        clearTimeout(longest)
        sessions.delete(accepted)
      })
      serve(accepted, offer).catch((error: unknown) => {
        // A container may fail at any time; the engine's message is fit for the client.
        const reason = error instanceof Error ? error.message : String(error)
        log.info({ reason }, 'a stream failed')
        accepted.close(closing.fault, reason)
      })
    },
    end() {
      ended = true
      offers.clear()
      for (const session of sessions.keys()) session.close(closing.away, 'the server is closing')
    },
  }
}

/** Forwards input to the conversation; an empty message ends it. Returns when the client has left. */
async function forwardInput(
  messages: AsyncIterator<Buffer>,
  conversation: Conversation,
): Promise<undefined> {
  let deaf = false
  for (;;) {
    const next = await messages.next()
    if (next.done === true) return undefined
    if (deaf) continue
    if (next.value.length === 0) conversation.end()
    // A program that closed its input may still write, so only its output decides when this ends.
    else await conversation.write(next.value).catch(() => (deaf = true))
  }
}

async function sendOutput(
  conversation: Conversation,
  socket: WebSocket,
): Promise<number | undefined> {
  for await (const { bytes } of conversation.output) await socket.send(bytes)
  return conversation.exitCode()
}

/** Compares in constant time. */
function isSame(given: string, password: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(password))
}
