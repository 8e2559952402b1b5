/**
 * One question to PostgreSQL: values in the shapes the port promises, errors in the port's words. Keeps no
 * connection; the caller says on which to ask.
 */

import type { CustomTypesConfig, QueryArrayConfig, QueryArrayResult } from 'pg'

import type { SqlValue } from '../store.ts'
import { translate } from './failure.ts'
import type { Statement } from './statements.ts'

export type Cells = readonly SqlValue[]
export type Parameter = SqlValue | readonly string[]

export interface Answer {
  readonly rows: readonly Cells[]
  readonly changes: number
  readonly columns: readonly string[]
}

/** A pool or one of its connections. */
interface Asked {
  query(config: QueryArrayConfig): Promise<QueryArrayResult<SqlValue[]>>
}

export async function ask(
  asked: Asked,
  statement: Statement | string,
  values: readonly Parameter[] = [],
  uniqueKey: string | null = null,
): Promise<Answer> {
  const told = typeof statement === 'string' ? { text: statement } : statement
  try {
    const { rows, rowCount, fields } = await asked.query({
      ...told,
      values: [...values],
      rowMode: 'array',
    })
    return { rows, changes: rowCount ?? 0, columns: fields.map(({ name }) => name) }
  } catch (error) {
    throw translate(error, uniqueKey)
  }
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
