/**
 * A page of details in an order of several fields, without an index for every pair of them: what has one value of the
 * first field stands together, and within it the others order. Small groups are sorted, large ones are walked along
 * the index of the next field.
 */

import type { Sql, SqlRow, SqlTx, SqlValue } from '#stores/store.ts'
import { type Bound, behind, type Sorted } from './ordering.ts'

/** From so many rows on, walking along an index and passing over other groups costs less than sorting. */
const sortedMax = 2000

export interface Groups {
  readonly runId: string
  /** The last one tells ties apart. */
  readonly terms: readonly Sorted[]
  /** Selected of every row. */
  readonly selected: string
}

export function pageByGroups(
  tx: Pick<SqlTx, 'all'>,
  { runId, terms, selected }: Groups,
  after: readonly SqlValue[] | undefined,
  limit: number,
): Promise<readonly SqlRow[]> {
  return page(terms, after, limit, [])

  async function page(
    sorted: readonly Sorted[],
    from: readonly SqlValue[] | undefined,
    most: number,
    fixed: readonly Bound[],
  ): Promise<readonly SqlRow[]> {
    const [first, ...rest] = sorted
    if (first === undefined) return []
    if (rest.length === 1) {
      const bounds = from === undefined ? fixed : [...fixed, behind(sorted, from)]
      return rows(`*, ${selected}`, bounds, sorted, most)
    }
    const found: SqlRow[] = []
    const past: Bound[] = [...fixed]
    const value = from?.[0]
    if (from !== undefined && value !== undefined) {
      found.push(...(await group(first, value, rest, from.slice(1), most, fixed)))
      past.push(compared(first, first.direction === 'asc' ? '>' : '<', value))
    }
    const left = most - found.length
    if (left === 0) return found
    // By the first field alone it is quick to see which groups are on the page; only the last may be longer than it.
    const place = { ...last(rest), direction: first.direction }
    const heads = await rows(`${first.text} as head`, past, [first, place], left)
    const end = heads.length < left ? undefined : heads.at(-1)?.['head']
    if (end === undefined) {
      found.push(...(await rows(`*, ${selected}`, past, sorted.map(loose), left)))
      return found
    }
    const ending = typeof end === 'bigint' ? Number(end) : end
    const whole = [...past, compared(first, first.direction === 'asc' ? '<' : '>', ending)]
    found.push(...(await rows(`*, ${selected}`, whole, sorted.map(loose), left)))
    const open = most - found.length
    found.push(...(await group(first, ending, rest, undefined, open, fixed)))
    return found
  }

  /** Of one value of the first field, by the rest. */
  async function group(
    first: Sorted,
    value: SqlValue,
    rest: readonly Sorted[],
    from: readonly SqlValue[] | undefined,
    most: number,
    fixed: readonly Bound[],
  ): Promise<readonly SqlRow[]> {
    const own = [...fixed, compared(first, '=', value)]
    const ties = await rows('1 as one', own, [], sortedMax + 1)
    if (ties.length > sortedMax) {
      return page(rest, from, most, [...fixed, compared(loose(first), '=', value)])
    }
    const sorted = rest.map(loose)
    const bounds = from === undefined ? own : [...own, behind(sorted, from)]
    return rows(`*, ${selected}`, bounds, sorted, most)
  }

  function rows(
    what: string,
    bounds: readonly Bound[],
    sorted: readonly Sorted[],
    most: number,
  ): Promise<readonly SqlRow[]> {
    const conditions = bounds.map(({ text }) => ` and ${text}`).join('')
    const order = sorted.map(({ text, direction }) => `${text} ${direction}`).join(', ')
    return tx.all(
      `select ${what} from share_details where run_id = ?${conditions}
        ${order === '' ? '' : `order by ${order}`} limit ?`,
      runId,
      ...bounds.flatMap(({ values }) => values),
      most,
    )
  }
}

/**
 * PostgreSQL knows nothing yet of a run that has just ended, and would sort all of it where an index is in order. What
 * is to be sorted all the same looks so dear to it then that it would compile the statement.
 */
export function alongIndexes<T>(
  sql: Sql,
  work: (tx: Pick<SqlTx, 'all'>) => Promise<T>,
): Promise<T> {
  if (sql.dialect === 'sqlite') return work(sql)
  return sql.transact(async (tx) => {
    await tx.all(
      `select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true),
        set_config('jit', 'off', true)`,
    )
    return work(tx)
  })
}

function compared({ text }: Sorted, sign: '=' | '<' | '>', value: SqlValue): Bound {
  return { text: `${text} ${sign} ?`, values: [value] }
}

/** The same value, and no index is found for it. */
function loose(sorted: Sorted): Sorted {
  const { type, text } = sorted
  return { ...sorted, text: type === 'whole' ? `(${text} + 0)` : `(${text} || '')` }
}

function last(terms: readonly Sorted[]): Sorted {
  const found = terms.at(-1)
  if (found === undefined) throw new Error('an order ends with the place')
  return found
}
