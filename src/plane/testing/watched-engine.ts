/**
 * The sample engine, slowed down and watched: how many steps ran on one name at once, and a gate at which a
 * test can hold a step. It behaves as the sample engine otherwise.
 */

import { SampleEngine } from './sample-engine.ts'

export class WatchedEngine extends SampleEngine {
  /** The most steps that ever ran at once on one name. */
  overlapMax = 0
  /** What each step waits for, between its beginning and its deed. */
  gate: (step: string) => Promise<void> = () => Promise.resolve()
  readonly #running = new Map<string, number>()

  override make(name: string, part: string): Promise<void> {
    return this.#watch(name, `make ${part}`, () => super.make(name, part))
  }

  override unmake(name: string, part: string): Promise<void> {
    return this.#watch(name, `unmake ${part}`, () => super.unmake(name, part))
  }

  async #watch(name: string, step: string, work: () => Promise<void>): Promise<void> {
    const count = (this.#running.get(name) ?? 0) + 1
    this.#running.set(name, count)
    this.overlapMax = Math.max(this.overlapMax, count)
    try {
      await this.gate(step)
      await work()
    } finally {
      this.#running.set(name, (this.#running.get(name) ?? 1) - 1)
    }
  }
}
