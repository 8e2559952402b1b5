/** Parts of a statement with their values, and the differences between the two stores. */

import type { Clock } from '#kernel/ports.ts'
import type { SqlValue } from '#stores/store.ts'
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

/** Concatenates texts and fragments. */
export function joined(...fragments: readonly (string | Fragment)[]): Fragment {
  let text = ''
  const values: SqlValue[] = []
  for (const fragment of fragments) {
    if (typeof fragment === 'string') text += fragment
    else {
      text += fragment.text
      values.push(...fragment.values)
    }
  }
  return { text, values }
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
