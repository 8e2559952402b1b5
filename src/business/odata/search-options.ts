/** Refuses lists that would cover a whole company, and makes the queries of next links. Pure. */

import type { Expression } from '../compile/expression.ts'
import { refuse } from '../errors.ts'
import { splitOutside } from './address.ts'
import type { DataRequest, Segment } from './request.ts'

/** The query with its token replaced. */
export function nextPageSearch(search: string, token: string, left: number | undefined): string {
  const kept = withoutPaging(search)
  const top = left === undefined ? [] : [`$top=${left}`]
  return [...(kept === '' ? [] : [kept]), ...top, `$skiptoken=${token}`].join('&')
}

const places = /^\$?(?:skiptoken|deltatoken|skip|top)$/

/** The query without the options that say where a page begins and ends. */
export function withoutPaging(search: string): string {
  const kept = search.split('&').filter((part) => {
    const name = decodeURIComponent((part.split('=')[0] ?? '').replaceAll('+', ' ')).toLowerCase()
    return part !== '' && !places.test(name)
  })
  return kept.join('&')
}

/** The options inside `$expand(…)` as a query. */
export function searchOf(text: string): string {
  return splitOutside(text, ';')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return `${part.slice(0, at).trim()}=${encodeURIComponent(part.slice(at + 1))}`
    })
    .join('&')
}

/** Some lists would cover a whole company, so a request has to narrow them (business facts 1 and 2). */
export function requireFilter(request: DataRequest): void {
  const { entity, navigation } = lastSegment(request)
  const needed = entity.listNeeds
  if (needed === undefined || navigation !== undefined) return
  const columns = [needed, 'id'].flatMap((name) =>
    entity.fields.filter((field) => field.name === name).map((field) => field.column),
  )
  if (request.options.filter !== undefined && narrows(request.options.filter, columns)) return
  throw refuse.Internal_DataNotFoundFilter({
    reason: `A list of '${entity.set}' must say of which document: add $filter=${needed} eq {id}, or read it below its document.`,
  })
}

function narrows(filter: Expression, columns: readonly string[]): boolean {
  if (filter.form === 'and') return filter.terms.some((term) => narrows(term, columns))
  const isColumn = (one: Expression): boolean =>
    one.form === 'column' && one.source.number === 0 && columns.includes(one.column)
  if (filter.form === 'in') return isColumn(filter.operand)
  return filter.form === 'compare' && filter.operator === 'eq' && isColumn(filter.left)
}

export function lastSegment(request: DataRequest): Segment {
  // A path has at least one segment.
  return request.path[request.path.length - 1] as Segment
}
