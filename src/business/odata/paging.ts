/**
 * Total orders, and tokens for the end of a page. A token holds the values that the last row was ordered by. It is
 * opaque to clients. A changed token is refused, or only begins elsewhere in the same list.
 */

import type { SqlValue } from '#stores/store.ts'
import type { Expression, OrderExpression, Source } from '../compile/expression.ts'
import { bare, between, type Fragment, joined } from '../compile/fragment.ts'
import type { SqlWriter } from '../compile/sql.ts'
import { type FieldType, fieldNamed } from '../entity.ts'
import { refuse } from '../errors.ts'

/** The requested order, then the entity's own order, then the id. */
export function totalOrder(
  query: readonly OrderExpression[],
  source: Source,
): readonly OrderExpression[] {
  const { entity, version } = source
  const own = (entity.defaultOrder ?? []).flatMap((name) => {
    const field = fieldNamed(entity, version, name) ?? fieldNamed(entity, 'v2.0', name)
    if (field === undefined) return []
    return [ascending(source, field.column, isWhole(field.type.kind) ? 'integer' : 'text')]
  })
  return [...query, ...own, ascending(source, 'id', 'text')]
}

/** True if a column of this kind holds an integer. PostgreSQL refuses to compare one as text. */
function isWhole(kind: FieldType['kind']): boolean {
  return kind === 'integer' || kind === 'decimal' || kind === 'moment'
}

function ascending(source: Source, column: string, kind: 'integer' | 'text'): OrderExpression {
  const expression: Expression = {
    form: 'column',
    kind,
    nullable: false,
    source,
    column,
    join: undefined,
    absent: [],
    values: undefined,
  }
  return { expression, descending: false }
}

export function formatToken(values: readonly SqlValue[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/** The rows after the token's row, in that order. */
export function afterToken(
  token: string,
  order: readonly OrderExpression[],
  writer: SqlWriter,
): Fragment {
  const values = readToken(token, order)
  const alternatives = order.map((term, at) => {
    const equal = order
      .slice(0, at)
      .map((before, index) => same(before, values[index] ?? null, writer))
    return joined('(', between(' and ', [...equal, beyond(term, values[at] ?? null, writer)]), ')')
  })
  return joined('(', between(' or ', alternatives), ')')
}

function readToken(token: string, order: readonly OrderExpression[]): readonly SqlValue[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(token, 'base64url').toString())
  } catch {
    // The parser throws where the token did not come from this server.
    throw badToken()
  }
  if (!Array.isArray(parsed) || parsed.length !== order.length) throw badToken()
  return order.map(({ expression }, at) => {
    const value: unknown = parsed[at]
    if (value === null && expression.nullable) return null
    const wanted = isText(expression) ? 'string' : 'number'
    if (typeof value === 'string' && wanted === 'string') {
      if (value.includes('\0') || !value.isWellFormed()) throw badToken()
      return value
    }
    if (typeof value === 'number' && wanted === 'number' && fits(value, expression)) return value
    throw badToken()
  })
}

function fits(value: number, { kind }: Expression): boolean {
  return kind === 'real' ? Number.isFinite(value) : Number.isSafeInteger(value)
}

function isText({ kind }: Expression): boolean {
  return ['text', 'guid', 'date', 'enum'].includes(kind)
}

function badToken(): Error {
  return refuse.Application_FilterErrorException({
    option: '$skiptoken',
    reason: 'follow @odata.nextLink exactly as it was given.',
  })
}

function parameter(term: OrderExpression, value: string | number, writer: SqlWriter): Fragment {
  const { kind } = term.expression
  return writer.parameter(kind === 'boolean' ? 'integer' : kind, value)
}

function same(term: OrderExpression, value: SqlValue, writer: SqlWriter): Fragment {
  const sortable = writer.sortable(term.expression)
  if (value === null) return joined('((', sortable, ') is null)')
  // Tokens never hold bytes.
  return joined('((', sortable, ') = ', parameter(term, value as string | number, writer), ')')
}

/** Null sorts before every value, so it comes last in descending order. */
function beyond(term: OrderExpression, value: SqlValue, writer: SqlWriter): Fragment {
  const sortable = writer.sortable(term.expression)
  if (value === null) {
    return term.descending ? bare('(1 = 0)') : joined('((', sortable, ') is not null)')
  }
  const sign = term.descending ? ' < ' : ' > '
  // Tokens never hold bytes.
  const far = joined('(', sortable, ')', sign, parameter(term, value as string | number, writer))
  const orNull = term.descending && term.expression.nullable
  return orNull ? joined('(', far, ' or (', sortable, ') is null)') : joined('(', far, ')')
}
