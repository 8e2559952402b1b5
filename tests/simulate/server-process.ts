/**
 * Server processes that can be killed: the launcher's `serve` on a home that outlives them. Only starts and ends
 * them.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { launcher } from '../launcher.ts'

const startSecondsMax = 30
const wordsMax = 200_000

interface Started {
  readonly url: string
  readonly subscriptionId: string
}

/** One home, with at most one process at a time. */
export class Replica {
  readonly name: string
  readonly home: string
  readonly #settings: Readonly<Record<string, string>>
  #child: ChildProcess | undefined
  #ended: Promise<void> = Promise.resolve()
  #words = ''
  #started: Started | undefined

  constructor(name: string, home: string, settings: Readonly<Record<string, string>>) {
    this.name = name
    this.home = home
    this.#settings = settings
  }

  /** Its address, or `undefined` while it is down or starting. */
  get started(): Started | undefined {
    return this.#started
  }

  get isAlive(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null
  }

  /** The end of everything that its processes have printed. */
  get words(): string {
    return this.#words
  }

  /** Resolves when it answers. Throws if it ended instead, unless it was killed meanwhile. */
  async start(): Promise<void> {
    if (this.isAlive) throw new Error(`${this.name} runs already`)
    const child = spawn(process.execPath, [launcher, 'serve', '--port', '0'], {
      cwd: this.home,
      env: { ...process.env, ARMATURE_HOME: this.home, ...this.#settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#ended = new Promise((resolve) => child.once('exit', () => resolve()))
    const ready = new Promise<void>((resolve) => {
      let heard = ''
      const hear = (chunk: Buffer): void => {
        this.#words = (this.#words + chunk).slice(-wordsMax)
        heard = (heard + chunk).slice(-1000)
        if (heard.includes('ready at ')) resolve()
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
    })
    const { promise: late, resolve: giveUp } = Promise.withResolvers<void>()
    const timer = setTimeout(giveUp, startSecondsMax * 1000)
    await Promise.race([ready, this.#ended, late])
    clearTimeout(timer)
    if (child.signalCode !== null) return
    if (child.exitCode !== null) {
      throw new Error(
        `${this.name} ended with ${child.exitCode} instead of starting:\n${this.#words}`,
      )
    }
    // Written by the server before it says that it is ready.
    const note = JSON.parse(readFileSync(join(this.home, 'running.json'), 'utf8')) as {
      readonly localUrl: string
      readonly subscriptionId: string
    }
    this.#started = { url: note.localUrl, subscriptionId: note.subscriptionId }
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    this.#started = undefined
    if (this.isAlive) this.#child?.kill('SIGKILL')
    await this.#ended
  }
}
