/** The period of a filter: its comparisons of a column that selects no rows (`View.period`). Pure. */

import type { CompareExpression, Expression } from '../compile/expression.ts'
import type { Entity, Period } from '../entity.ts'

const dayMs = 86_400_000

/** The filter without the comparisons that are the period. Those inside `or` and `not` stay, as conditions on rows. */
export function splitPeriod(
  { view }: Pick<Entity, 'view'>,
  filter: Expression | undefined,
): { readonly filter: Expression | undefined; readonly period?: Period } {
  if (view?.period === undefined || filter === undefined) return { filter }
  const terms = filter.form === 'and' ? filter.terms : [filter]
  const bounds = terms.map((term) => boundsOf(term, view.period ?? ''))
  const kept = terms.filter((_, at) => bounds[at] === undefined)
  if (kept.length === terms.length) return { filter }
  const [one] = kept
  const rest = filter.form === 'and' && kept.length > 1 ? { ...filter, terms: kept } : one
  const from = bounds.flatMap((bound) => bound?.from ?? []).sort()
  const until = bounds.flatMap((bound) => bound?.until ?? []).sort()
  return { filter: rest, period: { from: from.at(-1), until: until[0] } }
}

const mirrored = { eq: 'eq', ne: 'ne', gt: 'lt', ge: 'le', lt: 'gt', le: 'ge' } as const

/** What a comparison of the column with a day bounds. */
function boundsOf(term: Expression, column: string): Period | undefined {
  if (term.form !== 'compare') return undefined
  const isMirrored = term.right.form === 'column'
  const [own, other] = isMirrored ? [term.right, term.left] : [term.left, term.right]
  const isOwn = own.form === 'column' && own.source.number === 0 && own.column === column
  if (!isOwn || other.form !== 'constant' || typeof other.value !== 'string') return undefined
  const operator = isMirrored ? mirrored[term.operator] : term.operator
  return operator === 'ne' ? undefined : periodOf(operator, other.value)
}

function periodOf(operator: Exclude<CompareExpression['operator'], 'ne'>, day: string): Period {
  const isUpper = operator !== 'ge' && operator !== 'gt'
  const isLower = operator !== 'le' && operator !== 'lt'
  return {
    from: isLower ? shifted(day, operator === 'gt' ? 1 : 0) : undefined,
    until: isUpper ? shifted(day, operator === 'lt' ? -1 : 0) : undefined,
  }
}

function shifted(day: string, days: number): string {
  return days === 0 ? day : new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
}
