/**
 * Runs one statement on PostgreSQL: values in the forms the port promises, errors translated, and names for prepared
 * statements. Keeps no connection; the caller says which to use.
 */

import type { CustomTypesConfig, QueryArrayConfig, QueryArrayResult } from 'pg'

import { numberParameters, rememberedCharactersMax } from '../sql.ts'
import type { SqlValue } from '../store.ts'
import { StalePlan, translate } from './failure.ts'
import type { Statement } from './statements.ts'

export type Cells = readonly SqlValue[]
export type Parameter = SqlValue | readonly string[]

export interface Answer {
  readonly rows: readonly Cells[]
  readonly changes: number
  readonly columns: readonly string[]
  /** The command tag that the server returned. */
  readonly command: string
}

/** A pool or one of its connections. */
interface Asked {
  query(config: QueryArrayConfig): Promise<QueryArrayResult<SqlValue[]>>
}

/** The part of the driver's connection that knows what is prepared on it. */
export interface NamingConnection {
  readonly parsedStatements: Record<string, string>
  close(statement: { readonly type: 'S'; readonly name: string }): void
}

const prefix = 'relational'
/** How many texts of other areas stay prepared, and how many are remembered after a first use. */
const namedMax = 300
/** The server keeps some sixty bytes for each character that is prepared, on each connection. */
const namedCharactersMax = 128 * 1024

/**
 * The statement names of one store. When another replica changed the schema, a prepared statement whose columns
 * changed fails before it does anything, and keeps failing under that name on that connection. So all names are
 * changed and the statement is sent again: here outside a transaction, and by the transaction's retry inside one.
 */
export class PreparedStatements {
  #age = 0
  readonly #named = new Map<string, Statement>()
  readonly #seen = new Map<string, string>()
  readonly #tidied = new WeakMap<NamingConnection, number>()
  #namedCharacters = 0
  #namesMade = 0

  /** A text of another area, with `?` for parameters. It gets a name at its second use, unless it is long. */
  relational(text: string, values: readonly Parameter[]): Statement | string {
    if (text.length > rememberedCharactersMax) return numberParameters(text)
    const named = this.#named.get(text)
    if (named !== undefined) {
      // The last place is that of the last use.
      this.#named.delete(text)
      this.#named.set(text, named)
      return named
    }
    const seen = this.#seen.get(text)
    const numbered = seen ?? numberParameters(text)
    // Without values the driver sends a plain text, which needs no preparation.
    if (seen !== undefined && values.length > 0) {
      this.#makeRoom(text.length)
      this.#namedCharacters += text.length
      // A name stands for one text for good: statements under way may still be sent under it.
      const statement = { name: `${prefix}${this.#namesMade}`, text: numbered }
      this.#namesMade += 1
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

  #makeRoom(characters: number): void {
    for (const [text] of this.#named) {
      const isRoom = this.#namedCharacters + characters <= namedCharactersMax
      if (isRoom && this.#named.size < namedMax) return
      this.#named.delete(text)
      this.#namedCharacters -= text.length
    }
  }

  /** Lets go of what has lost its name, before a connection is used. The server answers with the next statement. */
  tidy(connection: NamingConnection): void {
    if (this.#tidied.get(connection) === this.#namesMade) return
    this.#tidied.set(connection, this.#namesMade)
    const kept = new Set([...this.#named.values()].map(({ name }) => name))
    for (const name of Object.keys(connection.parsedStatements)) {
      if (!name.startsWith(prefix) || kept.has(name.split('.')[0] ?? '')) continue
      connection.close({ type: 'S', name })
      delete connection.parsedStatements[name]
    }
  }

  /** For statements outside a transaction. */
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
      // Changes the names once for all statements that were under way under the old ones.
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

/** Cells as the port promises them: numbers, text, bytes, null; booleans as 0 and 1. */
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
