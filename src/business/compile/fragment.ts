/** Parts of a statement with their values, and the differences between the two stores. */

import type { Clock } from '#kernel/ports.ts'
import type { SqlValue } from '#stores/store.ts'
import { refuse } from '../errors.ts'
import type { Kind } from './expression.ts'

export type Dialect = 'sqlite' | 'postgres'

/** What a statement depends on besides its request. */
export interface SqlContext {
  readonly dialect: Dialect
  /** The installation's clock. Statements never ask the database for its own. */
  readonly clock: Clock
}

/** A piece of a statement and the values of its question marks, in order. */
export interface Fragment {
  readonly text: string
  readonly values: readonly SqlValue[]
}

export const nothing: Fragment = Object.freeze({ text: '', values: [] })

export function bare(text: string): Fragment {
  return { text, values: [] }
}

/** What a statement may be. Of values one store takes 32,766, and the other 65,535. */
export const statementCharactersMax = 256 * 1024
const statementValuesMax = 32_000

/** Concatenates texts and fragments. Every statement is made here, and refused as soon as it is too long. */
export function joined(...fragments: readonly (string | Fragment)[]): Fragment {
  let text = ''
  const values: SqlValue[] = []
  for (const fragment of fragments) {
    const [more, own] = typeof fragment === 'string' ? [fragment] : [fragment.text, fragment.values]
    const length = text.length + more.length
    const count = values.length + (own?.length ?? 0)
    if (length > statementCharactersMax || count > statementValuesMax) throw tooLong()
    text += more
    if (own !== undefined) values.push(...own)
  }
  return { text, values }
}

function tooLong(): Error {
  return refuse.BadRequest({
    reason:
      'The filter, the order or the position of a page makes a statement that is too long. Write fewer terms, and name fields that are added up less often.',
  })
}

/** What `text` computes of the operands, which it names v0 and v1: each is written once, and computed once for each row. */
export function computed(text: string, ...operands: readonly Fragment[]): Fragment {
  const named = operands.map((one, at) => joined(one, ` as v${at}`))
  // Without a limit a store may put the operands where their names are.
  return joined(`(select ${text} from (select `, between(', ', named), ' limit 1) as x)')
}

export function between(separator: string, fragments: readonly Fragment[]): Fragment {
  return joined(
    ...fragments.flatMap((fragment, at) => (at === 0 ? [fragment] : [separator, fragment])),
  )
}

export const castNames: Readonly<Record<Kind, string>> = {
  text: 'text',
  guid: 'text',
  enum: 'text',
  date: 'text',
  integer: 'bigint',
  moment: 'bigint',
  decimal: 'bigint',
  real: 'double precision',
  boolean: 'bigint',
  null: 'text',
}

export function parameter(dialect: Dialect, kind: Kind, value: SqlValue): Fragment {
  const text = dialect === 'postgres' ? `?::${castNames[kind]}` : '?'
  return { text, values: [value] }
}
