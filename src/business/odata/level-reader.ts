/**
 * Reads the rows of one level of a request with everything expanded below them, and writes each as JSON. Rows are
 * read and written in pieces, and the server does other work between them. A page or a list ends when the budget of
 * the answer is spent, and then has a next link.
 */

import type { SqlRow } from '#stores/store.ts'
import type { Fragment, SqlContext } from '../compile/fragment.ts'
import { inList } from '../compile/in-list.ts'
import { leadsToList } from '../compile/paths.ts'
import type { Entity, Version } from '../entity.ts'
import { refuse } from '../errors.ts'
import type { Reads } from '../message.ts'
import { companies } from '../tables.ts'
import { below, ofCompany } from './addressed-row.ts'
import { formatted, isUsual } from './answer-format.ts'
import type { Budget } from './budget.ts'
import { type Conditions, LevelStatement, type ReadRow } from './level-statement.ts'
import { odataLimits } from './limits.ts'
import type { ExpandOption, QueryOptions } from './options.ts'
import { mayScan, requireShortLists, scan, summedTable } from './scan.ts'
import { nextPageSearch, searchOf } from './search-options.ts'

/** A row as it is in the answer. */
export interface WrittenRow {
  readonly id: string
  readonly etag: string
  /** A JSON object that begins with its tag. */
  readonly text: string
}

export interface Level {
  readonly rows: readonly WrittenRow[]
  /** The token of the page's end. Undefined if there are no more rows. */
  readonly token: string | undefined
}

/** The rows of one set, and the fields selected of each. */
export interface SetQuery {
  readonly entity: Entity
  readonly version: Version
  /** No index has the rows in their own order. */
  readonly isSorted?: boolean
  readonly options: QueryOptions
  readonly companyId: string | undefined
}

/** The request that the rows are read for. */
export interface ReadContext {
  readonly reads: Reads
  readonly budget: Budget
}

/** A row below another row: its parent value and position, with the whole row or only its id. */
interface ChildRow {
  readonly value: string
  readonly place: number
  readonly total: number
  readonly id: string
  readonly raw: SqlRow | undefined
}

/** A list below a row, as far as it has been written. */
class WrittenList {
  /** The number of known rows. It is at most one more than the page. */
  known = 0
  done = 0
  total = 0
  readonly texts: string[] = []
  last: SqlRow | undefined
}

/** The row with its lists after its own fields, and the number of characters of its own fields. */
export function written(
  { id, etag, fields }: ReadRow,
  lists: readonly string[] = [],
): WrittenRow & { readonly own: number } {
  const own = JSON.stringify(fields)
  const text = lists.length === 0 ? own : `${own.slice(0, -1)},${lists.join(',')}}`
  return { id, etag, text, own: own.length }
}

export class LevelReader {
  readonly #context: SqlContext
  readonly #pageSize: number
  readonly #publicUrl: string
  readonly #namespace: string

  constructor(
    context: SqlContext,
    pageSize: number,
    { publicUrl, namespace }: { readonly publicUrl: string; readonly namespace: string },
  ) {
    this.#context = context
    this.#pageSize = pageSize
    this.#publicUrl = publicUrl
    this.#namespace = namespace
  }

  /** The row in the requested format. */
  #written(query: SetQuery, row: ReadRow, lists: readonly string[] | undefined) {
    const { version, companyId, options } = query
    if (isUsual(options.format)) return written(row, lists)
    const place = {
      root: `${this.#publicUrl}/${version}`,
      namespace: this.#namespace,
      companyId,
    }
    return written({ ...row, fields: formatted(options.format, query, row, place) }, lists)
  }

  /** One page of at most this many rows. */
  async page(
    query: SetQuery,
    conditions: Conditions,
    wanted: number,
    reading: ReadContext,
  ): Promise<Level> {
    const { entity, version, options } = query
    const { budget } = reading
    const statement = new LevelStatement(this.#context, entity, version, options)
    const expands = options.expand.length > 0
    const rows: WrittenRow[] = []
    let token: string | undefined
    const looks = {
      look: this.#lookFor(query, mayScan(options) || this.#isSorting(query, reading), reading),
      lookForSome: this.#lookForSome(query, reading),
    }
    for await (const { raws, isMore } of pieces(
      statement,
      { conditions, wanted },
      reading,
      looks,
    )) {
      for (let at = 0; at < raws.length; ) {
        const some = raws.slice(at, at + budget.atOnce(expands))
        const read = some.map((raw) => statement.row(raw))
        const behind = raws.length - at - some.length
        const hung = await this.#expandAll(query, read, { behind, canEnd: true }, reading)
        for (const [index, texts] of hung.entries()) {
          const one = this.#written(query, read[index] as ReadRow, texts) // one for each
          rows.push(one)
          budget.spend(1, one.own)
          at++
          // Expanded lists were read for the whole piece.
          if (budget.isSpent && !expands) break
        }
        const last = raws[at - 1]
        const goesOn = isMore || at < raws.length
        token = goesOn && last !== undefined ? statement.token(last) : undefined
        if (budget.isSpent) return { rows, token }
        await budget.pause()
      }
    }
    return { rows, token }
  }

  /**
   * For each row, the text after its own fields: `"name":…` in the requested order. With `canEnd` it is for the first
   * rows alone, and at least one, where others find no room.
   */
  async #expandAll(
    query: SetQuery,
    rows: readonly ReadRow[],
    { behind, canEnd }: { readonly behind: number; readonly canEnd: boolean },
    reading: ReadContext,
  ): Promise<readonly (readonly string[])[]> {
    let hung = rows.map((): string[] => [])
    const { budget } = reading
    if (rows.length === 0) return hung
    for (const [at, one] of query.options.expand.entries()) {
      const hangsOn = (row: ReadRow): string => String(row.cells[`x${at}`])
      const values = rows.map(hangsOn)
      const { statement, lists } = await this.#expandOne(
        query,
        one,
        { hangsOn: values, behind },
        reading,
      )
      const seen = new Set<string>()
      for (const [index, texts] of hung.entries()) {
        const row = rows[index] as ReadRow // one for each
        const value = hangsOn(row)
        const list = lists.get(value) ?? new WrittenList()
        const text = this.#listText(query, one, row, { statement, list })
        texts.push(text)
        // A text that stands below several rows counts once for each.
        if (!seen.has(value)) {
          seen.add(value)
          continue
        }
        budget.spend(0, text.length)
        if (!canEnd && budget.isOverdrawn) throw tooMuchBelow()
        if (canEnd && budget.isSpent) {
          hung = hung.slice(0, index)
          break
        }
      }
    }
    return hung
  }

  /** The rows of one navigation, for all rows at once, by their parent value. */
  async #expandOne(
    { entity: above, version, companyId }: SetQuery,
    one: ExpandOption,
    { hangsOn, behind }: { readonly hangsOn: readonly string[]; readonly behind: number },
    reading: ReadContext,
  ): Promise<{ statement: LevelStatement; lists: ReadonlyMap<string, WrittenList> }> {
    const { navigation, options, entity } = one
    const { budget } = reading
    const isList = leadsToList(navigation, version)
    const values = [...new Set(hangsOn)]
    const share = budget.each(values.length + behind)
    const page = isList ? Math.min(share, this.#pageSize, options.top ?? share) : 1
    const column = navigation.on.foreign
    const context = this.#context
    const conditions: Conditions = (writer, source) => [
      ...ofCompany(entity, companyId, true)(writer),
      inList(context.dialect, writer, column, values),
      ...(isList ? writer.withinTime(source) : []),
    ]
    if (isList) await requireShortLists(reading, { context, entity, version }, conditions)
    const statement = new LevelStatement(this.#context, entity, version, options)
    const level = { entity, version, options, companyId }
    const isOfMany = above.table === companies
    // A filter may be long for a single row, too.
    const isScan = mayScan(options) || (isList && (isOfMany || reading.reads.scan !== undefined))
    const look = this.#lookFor(level, isScan, reading)
    const lookForSome = this.#lookForSome(level, reading)
    // What a single row adds up was counted with it.
    const isWithin = navigation.many && reading.reads.scan === undefined
    const found = await hanging(statement, { conditions, column, page, isWithin }, look)
    const lists = new Map<string, WrittenList>()
    for (const { value, place, total } of found) {
      const list = lists.get(value) ?? new WrittenList()
      list.total = total
      if (place > options.skip) list.known++
      lists.set(value, list)
    }
    const wanted = found.filter(({ place }) => place > options.skip && place <= options.skip + page)
    for (let at = 0; at < wanted.length; ) {
      // A list may end early and say so; an existing single row cannot be left out.
      if (isList && budget.isSpent) break
      if (at > 0) await budget.pause()
      const some = wanted.slice(at, at + budget.atOnce(options.expand.length > 0))
      at += some.length
      const raws = await rawsOf(statement, some, lookForSome)
      const read = raws.flatMap((raw) => (raw === undefined ? [] : [statement.row(raw)]))
      const behind = wanted.length - at
      const hung = await this.#expandAll(level, read, { behind, canEnd: isList }, reading)
      const texts = read
        .slice(0, hung.length)
        .map((row, index) => this.#written(level, row, hung[index]))
        .values()
      for (const [index, { value }] of some.entries()) {
        const list = lists.get(value)
        const raw = raws[index]
        if (list === undefined) continue
        // The row may have been removed after its id was read.
        const row = raw === undefined ? undefined : texts.next().value
        // What found no room is behind the next link of its list.
        if (raw !== undefined && row === undefined) break
        list.done++
        if (raw === undefined || row === undefined) continue
        list.texts.push(row.text)
        list.last = raw
        budget.spend(1, row.own)
      }
    }
    return { statement, lists }
  }

  /** Where the store holds up the process while it sorts, as for each later page. In a transaction the rows were counted before. */
  #isSorting({ isSorted = false, options }: SetQuery, { reads }: ReadContext): boolean {
    const sorts = isSorted || options.skipToken !== undefined
    return sorts && this.#context.dialect === 'sqlite' && reads.scan !== undefined
  }

  /** For rows that were found. What they are ordered by is computed again, and may be long for each of them. */
  #lookForSome(query: SetQuery, reading: ReadContext): Look {
    const isComputed = query.options.orderBy.some(({ expression }) => expression.form !== 'column')
    // In a transaction they were counted when they were found.
    return this.#lookFor(query, isComputed && reading.reads.scan !== undefined, reading)
  }

  /** Chooses how a level's statements run. A statement that may read many rows runs as a scan. */
  #lookFor({ entity, options, companyId }: SetQuery, isScan: boolean, reading: ReadContext): Look {
    const { reads } = reading
    const summed = summedTable(entity, options)
    if (!isScan && summed === undefined) return ({ text, values }) => reads.all(text, ...values)
    const table = summed ?? entity.table.name
    return (fragment) =>
      scan(reading, { context: this.#context, entity, table, companyId, options }, fragment)
  }

  #listText(
    { entity, version, companyId }: SetQuery,
    { navigation, options, text }: ExpandOption,
    row: ReadRow,
    { statement, list }: { readonly statement: LevelStatement; readonly list: WrittenList },
  ): string {
    const name = navigation.name
    const { texts, last, known, done } = list
    if (!leadsToList(navigation, version)) return `${JSON.stringify(name)}:${texts[0] ?? 'null'}`
    const count = options.count ? `${JSON.stringify(`${name}@odata.count`)}:${list.total},` : ''
    const shown = `${count}${JSON.stringify(name)}:[${texts.join(',')}]`
    const left = options.top === undefined ? undefined : options.top - texts.length
    if (known <= done || left === 0) return shown
    const own = `${below(companyId)}${entity.set}(${row.id})/${name}`
    const search =
      last === undefined
        ? searchOf(text)
        : nextPageSearch(searchOf(text), statement.token(last), left)
    const link = `${this.#publicUrl}/${version}/${own}${search === '' ? '' : `?${search}`}`
    return `${shown},${JSON.stringify(`${name}@odata.nextLink`)}:${JSON.stringify(link)}`
  }
}

/** A single row cannot be left out, whatever stands below it. */
function tooMuchBelow(): Error {
  return refuse.BadRequest({
    reason:
      'Lists that stand below several rows are more than an answer holds: expand less of them.',
  })
}

type Look = (fragment: Fragment) => Promise<readonly SqlRow[]>

/** The rows of a page in order. Each piece says whether there are more. */
async function* pieces(
  statement: LevelStatement,
  { conditions, wanted }: { readonly conditions: Conditions; readonly wanted: number },
  reading: ReadContext,
  { look, lookForSome }: { readonly look: Look; readonly lookForSome: Look },
): AsyncGenerator<{ readonly raws: readonly SqlRow[]; readonly isMore: boolean }> {
  const most = reading.budget.page(wanted)
  const once = Math.min(most, odataLimits.rowsAtOnce)
  const found = await look(statement.page(conditions, once))
  let isMore = found.length > once
  yield { raws: found.slice(0, once), isMore }
  let last = found[once - 1]
  for (let given = once; isMore && given < most && last !== undefined; ) {
    const count = Math.min(most - given, odataLimits.idsAtOnce)
    const token: string = statement.token(last)
    const ids = await look(statement.ids(conditions, count + 1, token))
    given += count
    isMore = ids.length > count
    for (let at = 0; at < Math.min(ids.length, count); at += odataLimits.rowsAtOnce) {
      await reading.budget.pause()
      const to = Math.min(at + odataLimits.rowsAtOnce, count)
      const some = ids.slice(at, to).map((row) => ({ id: String(row['id']), raw: undefined }))
      const raws = (await rawsOf(statement, some, lookForSome)).filter((raw) => raw !== undefined)
      last = raws.at(-1) ?? last
      yield { raws, isMore: ids.length > to }
    }
  }
}

/**
 * The related rows in order of position. Few rows are read whole, many only as ids, and all where a transaction that writes
 * sorts them: whole rows take it ten times as long.
 */
async function hanging(
  statement: LevelStatement,
  {
    conditions,
    column,
    page,
    isWithin,
  }: {
    readonly conditions: Conditions
    readonly column: string
    readonly page: number
    readonly isWithin: boolean
  },
  look: Look,
): Promise<readonly ChildRow[]> {
  const toHanging = (raw: SqlRow, isWhole: boolean): ChildRow => ({
    value: String(raw['hanging']),
    place: Number(raw['place']),
    total: Number(raw['total'] ?? 0),
    id: String(raw['id']),
    raw: isWhole ? raw : undefined,
  })
  const rowsMax = odataLimits.rowsAtOnce
  if (!isWithin) {
    const few = await look(statement.pages(conditions, column, page, { rowsMax: rowsMax + 1 }))
    if (few.length <= rowsMax) return few.map((raw) => toHanging(raw, true))
  }
  const ids = await look(statement.pages(conditions, column, page, 'ids'))
  return ids.map((raw) => toHanging(raw, false))
}

/** The rows with these ids, in this order. A row that was removed meanwhile is undefined. */
async function rawsOf(
  statement: LevelStatement,
  some: readonly { readonly id: string; readonly raw: SqlRow | undefined }[],
  lookForSome: Look,
): Promise<readonly (SqlRow | undefined)[]> {
  const missing = some.filter(({ raw }) => raw === undefined).map(({ id }) => id)
  if (missing.length === 0) return some.map(({ raw }) => raw)
  const found = await lookForSome(statement.some(missing))
  const byId = new Map(found.map((raw) => [String(raw['id']), raw]))
  return some.map(({ id, raw }) => raw ?? byId.get(id))
}
