/**
 * Positions of feeds. Requests ask for the same ones again and again, to check that what they have cached is fresh. One
 * statement serves all that is asked until it is sent, at the end of a turn of the loop, so each answer is as fresh as that
 * of a statement of its own. One is under way at a time: what is asked meanwhile is joined to the next.
 */

import { setImmediate as endOfTurn } from 'node:timers/promises'
import { forEverybody } from '../awaited.ts'
import type { Answer, Parameter } from './session.ts'
import { queries, type Statement } from './statements.ts'

type Ask = (statement: Statement, values: readonly Parameter[]) => Promise<Answer>

export class JoinedPositions {
  readonly #ask: Ask
  /** The feeds of the statement that is not sent yet, and its answer. */
  readonly #names = new Set<string>()
  #next: Promise<ReadonlyMap<string, number>> | undefined
  #underWay: Promise<unknown> = Promise.resolve()
  /** When the server was started that gave the last answer: known before whoever asked for it goes on. */
  server: string | undefined

  constructor(ask: Ask) {
    this.#ask = ask
  }

  async position(name: string): Promise<number> {
    this.#names.add(name)
    this.#next ??= forEverybody(() => this.#read())
    return (await this.#next).get(name) ?? 0
  }

  async #read(): Promise<ReadonlyMap<string, number>> {
    await Promise.allSettled([endOfTurn(), this.#underWay])
    const names = [...this.#names]
    this.#names.clear()
    this.#next = undefined
    const answer = this.#ask(queries.feedPositionsOfServer, [names])
    this.#underWay = answer
    const { rows } = await answer
    this.server = String(rows[0]?.[2])
    // The columns have these types in the schema.
    return new Map(rows.map(([key, position]) => [key as string, position as number]))
  }
}
