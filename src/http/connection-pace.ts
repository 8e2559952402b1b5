/**
 * The pace of new connections of one address. Whoever opens very many gets the first answer of each late: to open them again
 * and again takes as long, and those of others are accepted meanwhile. Nothing is refused. The newest goes first, so that a
 * neighbour at the address waits for none of those that wait already; one of four is the oldest.
 */

import type { Socket } from 'node:net'

interface ConnectionPaceOptions {
  /** Milliseconds of a monotonic clock. */
  ticks(): number
  after(milliseconds: number, run: () => void): unknown
}

/** New connections of one address that are answered at once. */
const burst = 500
const perSecond = 100
const releaseMilliseconds = 50
const oldestOneOf = 4

/** What is known of an address. */
interface Address {
  tokens: number
  filledAt: number
  released: number
  readonly waiting: (() => void)[]
}

/** Undefined where the first request of this connection may go on; rejects nothing. */
type ConnectionPace = (address: string, socket: Socket) => Promise<void> | undefined

export function createConnectionPace({ ticks, after }: ConnectionPaceOptions): ConnectionPace {
  const addresses = new Map<string, Address>()

  function fill(one: Address): void {
    const now = ticks()
    one.tokens = Math.min(burst, one.tokens + ((now - one.filledAt) / 1000) * perSecond)
    one.filledAt = now
  }

  function release(address: string, one: Address): void {
    fill(one)
    while (one.tokens >= 1 && one.waiting.length > 0) {
      const isOldest = ++one.released % oldestOneOf === 0
      const next = isOldest ? one.waiting.shift() : one.waiting.pop()
      one.tokens--
      next?.()
    }
    // It is looked at until its burst is whole again, and is forgotten then.
    if (one.waiting.length === 0 && one.tokens >= burst - 1) addresses.delete(address)
    else look(address, one)
  }

  function look(address: string, one: Address): void {
    after(releaseMilliseconds, () => release(address, one))
  }

  return (address, socket) => {
    let one = addresses.get(address)
    if (one === undefined) {
      one = { tokens: burst, filledAt: ticks(), released: 0, waiting: [] }
      addresses.set(address, one)
      look(address, one)
    }
    if (one.tokens >= 1 && one.waiting.length === 0) {
      one.tokens--
      return undefined
    }
    const { waiting } = one
    return new Promise((resolve) => {
      const leave = (): void => {
        const at = waiting.indexOf(go)
        if (at >= 0) waiting.splice(at, 1)
        resolve()
      }
      const go = (): void => {
        socket.off('close', leave)
        resolve()
      }
      waiting.push(go)
      socket.once('close', leave)
    })
  }
}
