/**
 * The sample engine, slowed down and observed: it counts the steps that run at once on one name, and has a gate at
 * which a test can hold a step. Otherwise it behaves like the sample engine.
 */

import { SampleEngine } from './sample-engine.ts'

export class WatchedEngine extends SampleEngine {
  /** The most steps that ever ran at once on one name. */
  overlapMax = 0
  /** Every step waits for it between its start and its effect. */
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
