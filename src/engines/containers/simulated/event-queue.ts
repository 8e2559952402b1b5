/**
 * Passes events to followers: those of calls in this process, and those that only time brings. A timer sleeps until
 * the next of these. A follower that does not read loses events, so the queue stays bounded.
 */

import type { Clock, Timers } from '#kernel/ports.ts'
import type { EngineEvent } from '../engine.ts'

const waitingMax = 1000
/** A test may move the time without the timers, so the groups are checked at least this often. */
const lookMsMax = 1000

/** The next change of a group that only time brings. */
export interface Change {
  readonly at: number
  readonly event: EngineEvent
}

interface Changes {
  /** Called once, when the first follower comes. */
  groups(): readonly string[]
  next(group: string): Change | undefined
}

interface Follower {
  readonly waiting: EngineEvent[]
  wake: () => void
}

export class EventQueue {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #changes: Changes
  readonly #expected = new Map<string, Change>()
  readonly #followers = new Set<Follower>()
  #timer: { cancel(): void } | undefined
  #closed = false

  constructor({ clock, timers }: { clock: Clock; timers: Timers }, changes: Changes) {
    this.#clock = clock
    this.#timers = timers
    this.#changes = changes
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    for (const follower of this.#followers) follower.wake()
  }

  publish(event: EngineEvent): void {
    for (const follower of this.#followers) {
      if (follower.waiting.length < waitingMax) follower.waiting.push(event)
      follower.wake()
    }
  }

  /** Called when a group was written: its next change may be sooner, later or gone. */
  expect(group: string): void {
    if (this.#followers.size === 0) return
    const change = this.#changes.next(group)
    if (change === undefined) this.#expected.delete(group)
    else this.#expected.set(group, change)
    this.#watch()
  }

  /** Resolves at the next event, or when `signal` fires. */
  async change(signal: AbortSignal | undefined): Promise<void> {
    const ended = new AbortController()
    const both = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal])
    for await (const event of this.follow(both)) if (event.kind === 'part') ended.abort()
  }

  async *follow(signal: AbortSignal): AsyncIterable<EngineEvent> {
    const follower: Follower = { waiting: [{ kind: 'ready' }], wake: () => {} }
    const stop = () => follower.wake()
    signal.addEventListener('abort', stop)
    this.#followers.add(follower)
    if (this.#followers.size === 1) {
      this.#expected.clear()
      for (const group of this.#changes.groups()) this.expect(group)
      this.#watch()
    }
    try {
      while (!signal.aborted && !this.#closed) {
        const event = follower.waiting.shift()
        if (event !== undefined) {
          yield event
          continue
        }
        const { promise, resolve } = Promise.withResolvers<void>()
        follower.wake = resolve
        await promise
      }
    } finally {
      signal.removeEventListener('abort', stop)
      this.#followers.delete(follower)
      if (this.#followers.size === 0) this.#timer?.cancel()
    }
  }

  /** Runs only while somebody follows, so that an idle engine costs nothing. */
  #watch(): void {
    this.#timer?.cancel()
    if (this.#closed || this.#followers.size === 0 || this.#expected.size === 0) return
    let at = Number.POSITIVE_INFINITY
    for (const change of this.#expected.values()) at = Math.min(at, change.at)
    const left = Math.max(0, Math.min(at - this.#clock.now(), lookMsMax))
    this.#timer = this.#timers.after(left, () => this.#look())
  }

  #look(): void {
    const now = this.#clock.now()
    const due = [...this.#expected].filter(([, change]) => change.at <= now)
    for (const [group, change] of due) {
      this.publish(change.event)
      this.expect(group)
    }
    this.#watch()
  }
}
