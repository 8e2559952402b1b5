/**
 * One question to PostgreSQL: values in the shapes the port promises, errors in the port's words, and the names under
 * which texts are kept prepared. Keeps no connection; the caller says on which to ask.
 */

import type { CustomTypesConfig, QueryArrayConfig, QueryArrayResult } from 'pg'

import { numberParameters } from '../sql.ts'
import type { SqlValue } from '../store.ts'
import { StalePlan, translate } from './failure.ts'
import type { Statement } from './statements.ts'

export type Cells = readonly SqlValue[]
export type Parameter = SqlValue | readonly string[]

export interface Answer {
  readonly rows: readonly Cells[]
  readonly changes: number
  readonly columns: readonly string[]
  /** The server's word for what was done. */
  readonly command: string
}

/** A pool or one of its connections. */
interface Asked {
  query(config: QueryArrayConfig): Promise<QueryArrayResult<SqlValue[]>>
}

/** Texts of other areas that are kept prepared, and as many that were seen once. */
const namedMax = 300

/**
 * The names of one store. A statement whose plan no longer gives the columns it was prepared with (another replica changed
 * the schema) fails before it does anything, and fails for ever on that connection under that name. So all names change,
 * and it is asked again: here outside of a transaction, and by the transaction's next try inside of one.
 */
export class PreparedStatements {
  #age = 0
  readonly #named = new Map<string, Statement>()
  readonly #seen = new Map<string, string>()

  /** A text of another area, with parameters as `?`. The second time it is asked it gets a name. */
  relational(text: string, values: readonly Parameter[]): Statement | string {
    const named = this.#named.get(text)
    if (named !== undefined) return named
    const seen = this.#seen.get(text)
    const numbered = seen ?? numberParameters(text)
    // Without values the driver sends a plain text, which needs no preparation.
    if (seen !== undefined && values.length > 0 && this.#named.size < namedMax) {
      const statement = { name: `relational${this.#named.size}`, text: numbered }
      this.#named.set(text, statement)
      this.#seen.delete(text)
      return statement
    }
    if (seen === undefined) {
      const [oldest] = this.#seen.keys()
      if (this.#seen.size >= namedMax && oldest !== undefined) this.#seen.delete(oldest)
      this.#seen.set(text, numbered)
    }
    return numbered
  }

  /** Outside of a transaction. */
  async askAlone(
    asked: Asked,
    statement: Statement | string,
    values: readonly Parameter[] = [],
  ): Promise<Answer> {
    try {
      return await this.ask(asked, statement, values)
    } catch (error) {
      if (!(error instanceof StalePlan)) throw error
      return this.ask(asked, statement, values)
    }
  }

  async ask(
    asked: Asked,
    statement: Statement | string,
    values: readonly Parameter[] = [],
    uniqueKey: string | null = null,
  ): Promise<Answer> {
    const age = this.#age
    try {
      const { rows, rowCount, fields, command } = await asked.query({
        ...namedAt(age, statement),
        values: [...values],
        rowMode: 'array',
      })
      const columns = fields.map(({ name }) => name)
      return { rows, changes: rowCount ?? 0, columns, command }
    } catch (error) {
      const translated = translate(error, uniqueKey)
      // Once for all the questions that were on their way under the old names.
      if (translated instanceof StalePlan && age === this.#age) this.#age++
      throw translated
    }
  }
}

function namedAt(age: number, statement: Statement | string): { name?: string; text: string } {
  if (typeof statement === 'string') return { text: statement }
  if (age === 0) return statement
  return { name: `${statement.name}.${age}`, text: statement.text }
}

/** Cells come as the port has them: numbers, text, bytes, null; booleans as 0 and 1. */
export const cellTypes: CustomTypesConfig = {
  getTypeParser: (oid: number) => parsers.get(oid) ?? asText,
}

const asText = (text: string): SqlValue => text
const asNumber = (text: string): SqlValue => Number(text)

function asWholeNumber(text: string): SqlValue {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw new Error(`The number ${text} is too large to be carried exactly.`)
  }
  return value
}

/** The server's form of bytes is `\x` and hexadecimal digits. */
function asBytes(text: string): SqlValue {
  return new Uint8Array(Buffer.from(text.slice(2), 'hex'))
}

/** By the server's numbers of types: bool, bytea, int8, int2, int4, oid, float4, float8, numeric. */
const parsers: ReadonlyMap<number, (text: string) => SqlValue> = new Map([
  [16, (text: string): SqlValue => (text === 't' ? 1 : 0)],
  [17, asBytes],
  [20, asWholeNumber],
  [21, asNumber],
  [23, asNumber],
  [26, asNumber],
  [700, asNumber],
  [701, asNumber],
  [1700, asNumber],
])
