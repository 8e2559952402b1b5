/**
 * Rows that are read by their keys. What is asked for in one turn of the loop is read by one statement, sent after the last
 * question, so each answer is as fresh as that of a statement of its own. A way to the server costs more than a row does.
 * The statement is in nobody's name, and what it can bring into memory is bounded.
 */

import { setImmediate as endOfTurn } from 'node:timers/promises'
import { forEverybody } from '../awaited.ts'
import type { Answer, Cells, Parameter } from './session.ts'
import { queries, type Statement } from './statements.ts'

/** Of one statement: with the largest document that is read along, at most 4 MB. */
const keysMax = 64
/** What is asked meanwhile waits, and is joined. */
const statementsMax = 2

type Ask = (statement: Statement, values: readonly Parameter[]) => Promise<Answer>

/** A large document is left out: it is read by itself, in the turn of its caller. */
export const tooLarge = Symbol('too large')
type Found = Cells | typeof tooLarge | undefined

export class JoinedGets {
  readonly #ask: Ask
  readonly #waiting = new Map<string, PromiseWithResolvers<Found>>()
  #isScheduled = false
  #underWay = 0

  constructor(ask: Ask) {
    this.#ask = ask
  }

  get(key: string): Promise<Found> {
    const joined = this.#waiting.get(key)
    if (joined !== undefined) return joined.promise
    const wanted = Promise.withResolvers<Found>()
    this.#waiting.set(key, wanted)
    if (!this.#isScheduled) {
      this.#isScheduled = true
      forEverybody(() => void this.#atEndOfTurn())
    }
    return wanted.promise
  }

  async #atEndOfTurn(): Promise<void> {
    await endOfTurn()
    this.#isScheduled = false
    this.#send()
  }

  #send(): void {
    while (this.#waiting.size > 0 && this.#underWay < statementsMax) {
      const batch = new Map([...this.#waiting].slice(0, keysMax))
      for (const key of batch.keys()) this.#waiting.delete(key)
      this.#underWay++
      this.#read([...batch.keys()])
        .then(
          (rows) => {
            for (const [key, { resolve }] of batch) resolve(rows.get(key))
          },
          (error: unknown) => {
            for (const { reject } of batch.values()) reject(error)
          },
        )
        .finally(() => {
          this.#underWay--
          this.#send()
        })
    }
  }

  async #read(keys: readonly string[]): Promise<ReadonlyMap<string, Found>> {
    const { rows } = await this.#ask(queries.getAll, [keys])
    // The key is a text column. Only a document that is too large is null.
    return new Map(rows.map((cells) => [cells[0] as string, cells[7] === null ? tooLarge : cells]))
  }
}
