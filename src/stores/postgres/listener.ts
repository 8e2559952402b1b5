/**
 * Listens for work that any process scheduled, on a connection of its own that is reopened when it breaks. A missed
 * notification costs delay, never work.
 */

import type { Client } from 'pg'
import { backOff } from '#kernel/back-off.ts'

import { listen } from './statements.ts'

const reconnectMilliseconds = { first: 100, most: 5000 }

export class Listener implements AsyncDisposable {
  readonly #connect: () => Client
  readonly #callbacks: (() => void)[] = []
  #client: Client | undefined
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #closed = false

  /** `connect` makes a client that is not connected yet. */
  constructor(connect: () => Client) {
    this.#connect = connect
  }

  /** The first callback opens the connection: a process without background work needs none. */
  add(callback: () => void): void {
    if (this.#closed) return
    this.#callbacks.push(callback)
    if (this.#callbacks.length === 1) void this.#start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    await client?.end()
  }

  async #start(): Promise<void> {
    const client = this.#connect()
    this.#client = client
    client.on('notification', () => this.#call())
    client.on('error', () => this.#again(client))
    client.on('end', () => this.#again(client))
    try {
      await client.connect()
      await client.query(listen)
    } catch {
      // The server cannot be reached now; reads and writes of the store report that.
      this.#again(client)
      return
    }
    this.#failures = 0
    // Something may have been scheduled while the connection was down.
    this.#call()
  }

  #call(): void {
    for (const callback of this.#callbacks) callback()
  }

  /** Runs once per client, although the end of a connection is reported in several ways. */
  #again(client: Client): void {
    if (this.#closed || client !== this.#client) return
    this.#client = undefined
    client.end().catch(() => undefined)
    this.#failures++
    const delay = backOff(reconnectMilliseconds, this.#failures - 1)
    this.#timer = setTimeout(() => void this.#start(), delay)
    this.#timer.unref()
  }
}
