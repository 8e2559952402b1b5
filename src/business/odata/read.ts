/**
 * Answers GET from either store: rows, one row, a count or one field, as JSON with context, tags and next links.
 * Each level of `$expand` takes one query, however many rows there are. It writes nothing and does not check
 * rights.
 */

import type { SqlRow, SqlValue } from '#stores/store.ts'
import { joined, type SqlContext } from '../compile/fragment.ts'
import { inList } from '../compile/in-list.ts'
import { leadsToList, rootSource } from '../compile/paths.ts'
import { SqlWriter } from '../compile/sql.ts'
import type { Entity, Version } from '../entity.ts'
import { refuse } from '../errors.ts'
import { type BusinessAnswer, jsonHeaders, namesTag, type Reads, textAnswer } from '../message.ts'
import * as tables from '../tables.ts'
import { absent, below, columnEquals, ofCompany, writtenPart } from './addressed-row.ts'
import { contentTypeOf, isUsual } from './answer-format.ts'
import { Budget } from './budget.ts'
import {
  type Level,
  LevelReader,
  type ReadContext,
  type SetQuery,
  type WrittenRow,
  written,
} from './level-reader.ts'
import { type Conditions, LevelStatement, whereOf } from './level-statement.ts'
import { odataLimits } from './limits.ts'
import { plainOptions, type QueryOptions } from './options.ts'
import { type Bounds, idsOf, PathRows, type ResolvedPath } from './path-rows.ts'
import type { Fields, Reader, ReaderOptions, RowToShow, ShownRow } from './reader.ts'
import type { DataRequest } from './request.ts'
import { isInOrder, mayScan, requireShortLists, scan } from './scan.ts'
import { lastSegment, nextPageSearch, requireFilter, withoutPaging } from './search-options.ts'

export function createReader(options: ReaderOptions): Reader {
  return new SqlReader(options)
}

/** A row named by ids alone. */
interface RowById {
  readonly entity: Entity
  readonly version: Version
  readonly id: string
  readonly companyId: string | undefined
  /** The row above it in the address, and the column that leads there. */
  readonly above?: { readonly column: string; readonly id: string } | undefined
}

interface WholeRow {
  readonly read: LevelStatement
  readonly text: string
  /** The values after those of `RowById`. */
  readonly values: readonly SqlValue[]
}

const nothingThere: BusinessAnswer = {
  status: 204,
  headers: { 'OData-Version': '4.0' },
  body: undefined,
}

function withId({ entity, id, companyId, above }: Omit<RowById, 'version'>): Conditions {
  return (writer) => [
    joined('t0.id = ', writer.parameter('text', id)),
    ...ofCompany(entity, companyId)(writer),
    ...(above === undefined ? [] : [columnEquals(writer, above.column, above.id)]),
  ]
}

function withoutView({ view: _, ...plain }: Entity): Entity {
  return plain
}

/** The rows that need no computation. All rows where `works` is undefined. */
function withoutWorks(works: string | undefined, conditions: Conditions): Conditions {
  if (works === undefined) return conditions
  return (writer, source) => [...conditions(writer, source), joined(`not (${works})`)]
}

/** The row of a company that the address of a GET names by ids alone, if its values do not depend on the time. */
function rowById(request: DataRequest, companyId: string | undefined): RowById | undefined {
  const { entity, navigation } = lastSegment(request)
  const { parents, id } = idsOf(request) ?? {}
  const [parent] = parents ?? []
  const isOfTime = entity.view !== undefined && entity.view.works === undefined
  if (id === undefined || entity.scope !== 'company' || isOfTime) return undefined
  const above =
    parent === undefined || navigation === undefined
      ? undefined
      : { column: navigation.on.foreign, id: parent }
  return { entity, version: request.version, id, companyId, above }
}

/** Every field in the usual format, with nothing expanded. */
function isPlain({ expand, selected, format }: QueryOptions): boolean {
  return expand.length === 0 && selected === undefined && isUsual(format)
}

/** The list in the context address: the selected fields and the expanded navigations, each with its own list. */
function selectList({ selected, expand }: QueryOptions): string {
  const expanded = expand.map(({ navigation, options }) => {
    const inner = selectList(options)
    return `${navigation.name}${inner === '' ? '()' : inner}`
  })
  const names = [...(selected === undefined ? [] : [selected]), ...expanded]
  return names.length === 0 ? '' : `(${names.join(',')})`
}

function headersOf({ options: { format } }: DataRequest): Readonly<Record<string, string>> {
  return isUsual(format) ? jsonHeaders : { ...jsonHeaders, 'Content-Type': contentTypeOf(format) }
}

/** Options for several rows have no effect on the address of one row. */
function ofOneRow(options: QueryOptions): QueryOptions {
  const none = { filter: undefined, orderBy: [], top: undefined, skip: 0, skipToken: undefined }
  return { ...options, ...none }
}

/** A row with its context, which comes before its tag. */
function withContext(context: string, row: string): string {
  return `{"@odata.context":${JSON.stringify(context)},${row.slice(1)}`
}

class SqlReader implements Reader {
  readonly #context: SqlContext
  readonly #pageSize: number
  readonly #publicUrl: string
  readonly #paths: PathRows
  readonly #levels: LevelReader
  /** Readers of one whole row by its id, per set and version. Almost every write answers with one. */
  readonly #wholeRows = new Map<string, WholeRow>()

  constructor({ dialect, clock, pageSize, publicUrl, namespace, model }: ReaderOptions) {
    const context = { dialect, clock }
    this.#context = context
    this.#publicUrl = publicUrl
    this.#paths = new PathRows(context, model)
    this.#pageSize = Math.min(pageSize ?? odataLimits.pageSizeMax, odataLimits.pageSizeMax)
    this.#levels = new LevelReader(context, this.#pageSize, { publicUrl, namespace })
  }

  async read(
    { reads, budget = Budget.ofAnswer() }: Parameters<Reader['read']>[0],
    request: DataRequest,
    bounds: Bounds,
  ): Promise<BusinessAnswer> {
    const { companyId } = bounds
    const reading = { reads, budget }
    switch (request.kind) {
      case 'rows':
        return this.#rows(reading, request, bounds)
      case 'count': {
        const { entity } = lastSegment(request)
        const conditions = await this.#paths.ofPath(reads, request, bounds)
        const query = { entity, version: request.version, options: request.options, companyId }
        const count = await this.#count(query, conditions, reading)
        return textAnswer(String(count))
      }
      case 'row': {
        const found = await this.#row(reading, request, bounds, request.options)
        return found === undefined ? nothingThere : this.#rowAnswer(request, companyId, found)
      }
      case 'property':
        return this.#property(reading, request, bounds)
      case 'action':
        throw refuse.BadRequest_MethodNotAllowed({ method: 'GET', allow: 'POST' })
    }
  }

  async readById(
    { reads, budget = Budget.ofAnswer() }: Parameters<Reader['read']>[0],
    request: DataRequest,
    companyId: string,
  ): Promise<BusinessAnswer | undefined> {
    if (request.kind !== 'row' || !isPlain(request.options)) return undefined
    const byId = rowById(request, companyId)
    const found = byId && (await this.#rowById({ reads, budget }, byId))
    return found && this.#rowAnswer(request, companyId, found)
  }

  #rowAnswer(
    request: DataRequest,
    companyId: string | undefined,
    { etag, text }: WrittenRow,
  ): BusinessAnswer {
    if (request.ifMatch !== undefined && !namesTag(request.ifMatch, etag)) {
      throw refuse.Request_EntityChanged(
        { type: lastSegment(request).entity.type, etag },
        { target: 'If-Match', headers: { ETag: etag } },
      )
    }
    if (namesTag(request.ifNoneMatch, etag)) {
      return { status: 304, headers: { ETag: etag, 'OData-Version': '4.0' }, body: undefined }
    }
    const body = this.#told(request, this.#contextOf(request, companyId), text)
    return { status: 200, headers: { ...headersOf(request), ETag: etag }, body }
  }

  async some(
    { reads }: { readonly reads: Reads },
    request: DataRequest,
    { bounds, ids }: { readonly bounds: Bounds; readonly ids: readonly string[] },
  ): Promise<ReadonlyMap<string, string>> {
    const { version, options } = request
    const { entity } = lastSegment(request)
    const own = await this.#paths.ofPath(reads, request, { ...bounds, areNamed: true })
    const conditions: Conditions = (writer, source) => [
      ...own(writer, source),
      inList(this.#context.dialect, writer, 'id', ids),
    ]
    const query = { entity, version, options, companyId: bounds.companyId }
    const reading = { reads, budget: Budget.ofAnswer() }
    const { rows, token } = await this.#levels.page(query, conditions, ids.length, reading)
    if (token !== undefined) throw new Error('the rows are more than an answer holds')
    return new Map(rows.map(({ id, text }) => [id, text]))
  }

  companyId(reads: Reads, request: DataRequest, lock?: string): Promise<string | undefined> {
    return this.#paths.companyId(reads, request, lock)
  }

  resolve(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    odd?: 'last-key-ignored',
  ): Promise<ResolvedPath> {
    return this.#paths.resolve(reads, request, companyId, odd)
  }

  async show(toShow: RowToShow): Promise<ShownRow> {
    const { reads, request, companyId, entity, id } = toShow
    const { budget = Budget.ofTransaction() } = toShow
    const { version } = request
    const isLast = entity === lastSegment(request).entity
    const shown = isLast ? ofOneRow(request.options) : plainOptions(entity, version)
    const byId = { entity, version, id, companyId }
    const row: (WrittenRow & { readonly fields?: Fields }) | undefined = isPlain(shown)
      ? await this.#wholeRow(reads, byId, { cells: toShow.row })
      : await this.#oneRow({ ...byId, options: shown }, withId(byId), { reads, budget })
    if (row === undefined)
      throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `id ${id}` })
    const own = `${this.#root(version)}/$metadata#${below(companyId)}${entity.set}/$entity`
    const context = isLast ? this.#contextOf(request, companyId) : own
    const key = await this.#paths.wireKey(reads, { entity, version, id }, toShow.row)
    return {
      text: this.#told(request, context, row.text),
      fields: row.fields,
      etag: row.etag,
      location: `${this.#root(version)}/${below(companyId)}${entity.set}(${key})`,
    }
  }

  fieldsOf(request: DataRequest): ((row: SqlRow) => Fields) | undefined {
    const { version } = request
    const { entity } = lastSegment(request)
    // Lines are read through their view by who writes them.
    const isViewed = entity.view !== undefined && entity.table !== tables.lines
    if (isViewed) return undefined
    const { read } = this.#wholeRowOf({ entity, version, id: '', companyId: '' })
    return read.isPlain ? (row) => read.row(row).fields : undefined
  }

  #told({ options }: DataRequest, context: string, row: string): string {
    return options.format.metadata === 'none' ? row : withContext(context, row)
  }

  /** Without `how.works` from the view, if there is one. `how.cells` are those of the row, if they are known. */
  async #wholeRow(
    reads: Reads,
    byId: RowById,
    { works, cells }: { readonly works?: string; readonly cells?: SqlRow | undefined } = {},
  ): Promise<(ReturnType<typeof written> & { readonly fields: Fields }) | undefined> {
    const { read, text, own, values } = this.#wholeRowOf(byId, works)
    const row =
      cells !== undefined && read.isPlain ? cells : (await reads.all(text, ...own, ...values))[0]
    if (row === undefined) return undefined
    const found = read.row(row)
    return { ...written(found), fields: found.fields }
  }

  #wholeRowOf(byId: RowById, works?: string): WholeRow & { readonly own: readonly string[] } {
    const { version, id, companyId, above } = byId
    const own =
      byId.entity.scope === 'installation' || companyId === undefined ? [id] : [id, companyId]
    if (above !== undefined) own.push(above.id)
    const key = `${version} ${byId.entity.set} ${works === undefined} ${above?.column}`
    let known = this.#wholeRows.get(key)
    if (known === undefined) {
      const entity = works === undefined ? byId.entity : withoutView(byId.entity)
      const read = new LevelStatement(this.#context, entity, version, plainOptions(entity, version))
      const { text, values } = read.page(withoutWorks(works, withId(byId)), 1)
      known = { read, text, values: values.slice(own.length) }
      this.#wholeRows.set(key, known)
    }
    return { ...known, own }
  }

  /** As `#oneRow`, for every field of a row that is named by ids. */
  async #rowById({ reads, budget }: ReadContext, byId: RowById): Promise<WrittenRow | undefined> {
    const works = byId.entity.view?.works
    const standing = works === undefined ? undefined : await this.#wholeRow(reads, byId, { works })
    const row = standing ?? (await this.#wholeRow(reads, byId))
    if (row !== undefined) budget.spend(1, row.own)
    return row
  }

  /**
   * A view computes columns of some rows. Most rows need no computation, so the row is first looked for among those,
   * without the view.
   */
  async #oneRow(
    query: SetQuery,
    conditions: Conditions,
    reading: ReadContext,
  ): Promise<WrittenRow | undefined> {
    const works = query.entity.view?.works
    const look = async (entity: Entity, where: Conditions): Promise<WrittenRow | undefined> =>
      (await this.#levels.page({ ...query, entity }, where, 1, reading)).rows[0]
    const standing =
      works === undefined
        ? undefined
        : await look(withoutView(query.entity), withoutWorks(works, conditions))
    return standing ?? (await look(query.entity, conditions))
  }

  /**
   * The row that an address names. A key that names no row is refused. A navigation without a row gives undefined.
   */
  async #row(
    reading: ReadContext,
    request: DataRequest,
    bounds: Bounds,
    options: QueryOptions,
  ): Promise<WrittenRow | undefined> {
    const { version } = request
    const last = lastSegment(request)
    const { companyId } = bounds
    const byId = isPlain(options) ? rowById(request, companyId) : undefined
    const row =
      byId === undefined
        ? await this.#oneRow(
            { entity: last.entity, version, options: ofOneRow(options), companyId },
            await this.#paths.ofPath(reading.reads, request, bounds),
            reading,
          )
        : await this.#rowById(reading, byId)
    if (row === undefined && last.key !== undefined) throw absent(last)
    return row
  }

  /** The context of one row, below the path of the request. */
  #contextOf(request: DataRequest, companyId: string | undefined): string {
    const select = selectList(request.options)
    const place = this.#contextPath(request, companyId)
    return `${this.#root(request.version)}/$metadata#${place}${select}/$entity`
  }

  #root(version: Version): string {
    return `${this.#publicUrl}/${version}`
  }

  /** `companies(…)/salesInvoices(…)/salesInvoiceLines`, with keys as in the address. */
  #contextPath(request: DataRequest, companyId: string | undefined): string {
    const steps = request.path.map(({ entity, key, navigation }, at) => {
      const name = navigation?.name ?? entity.set
      const isLast = at === request.path.length - 1
      return key === undefined || isLast ? name : `${name}(${key.map(writtenPart).join(',')})`
    })
    return `${below(companyId)}${steps.join('/')}`
  }

  async #rows(reading: ReadContext, request: DataRequest, bounds: Bounds): Promise<BusinessAnswer> {
    const { version, options } = request
    const { entity } = lastSegment(request)
    const { companyId } = bounds
    requireFilter(request)
    const conditions = await this.#paths.ofPath(reading.reads, request, bounds)
    const hangsLists = options.expand.some((one) => leadsToList(one.navigation, version))
    const usual = hangsLists
      ? Math.min(this.#pageSize, odataLimits.expandedPageSize)
      : this.#pageSize
    const page = Math.min(request.maxPageSize ?? usual, options.top ?? Number.POSITIVE_INFINITY)
    const isSorted = !isInOrder(lastSegment(request))
    const query = { entity, version, options, companyId, isSorted }
    if (!mayScan(options) && (isSorted || options.skipToken !== undefined))
      await requireShortLists(reading, { context: this.#context, ...query }, conditions)
    const level: Level =
      page === 0
        ? { rows: [], token: undefined }
        : await this.#levels.page(query, conditions, page, reading)
    const select = selectList(options)
    const place = this.#contextPath(request, companyId)
    const count = options.count ? await this.#count(query, conditions, reading) : undefined
    const left = options.top === undefined ? undefined : options.top - level.rows.length
    const { path, search } = request.address
    const { deltaToken } = bounds
    const follows = deltaToken === undefined ? [] : [`$deltatoken=${deltaToken}`]
    const addressOf = (...given: readonly string[]): string =>
      `${this.#root(version)}/${path}?${[...given, ...follows].filter((one) => one !== '').join('&')}`
    const next =
      level.token === undefined || left === 0
        ? undefined
        : addressOf(nextPageSearch(search, level.token, left))
    const context = `${this.#root(version)}/$metadata#${place}${select}`
    const { metadata, isIeee754 } = options.format
    const head = JSON.stringify({
      // Undefined members are left out of the JSON.
      '@odata.context': metadata === 'none' ? undefined : context,
      '@odata.count': isIeee754 && count !== undefined ? String(count) : count,
    })
    const link =
      next !== undefined
        ? `,"@odata.nextLink":${JSON.stringify(next)}`
        : deltaToken !== undefined
          ? `,"@odata.deltaLink":${JSON.stringify(addressOf(withoutPaging(search)))}`
          : ''
    const value = level.rows.map(({ text }) => text).join(',')
    const applied = [
      ...(deltaToken === undefined ? [] : ['odata.track-changes']),
      ...(request.maxPageSize === undefined ? [] : [`odata.maxpagesize=${page}`]),
    ]
    const preferences = applied.length === 0 ? {} : { 'Preference-Applied': applied.join(', ') }
    return {
      status: 200,
      headers: { ...headersOf(request), ...preferences },
      body: `${head === '{}' ? '{' : `${head.slice(0, -1)},`}"value":[${value}]${link}}`,
    }
  }

  async #property(
    reading: ReadContext,
    request: DataRequest & { readonly kind: 'property' },
    bounds: Bounds,
  ): Promise<BusinessAnswer> {
    const { version, field } = request
    const options = { ...plainOptions(lastSegment(request).entity, version), fields: [field] }
    const row = await this.#row(reading, request, bounds, options)
    const value = row === undefined ? null : (JSON.parse(row.text)[field.name] ?? null)
    const { format } = request.options
    if (row === undefined || value === null) return nothingThere
    if (request.raw) return textAnswer(String(value))
    const place = `${this.#contextPath(request, bounds.companyId)}(${row.id})/${field.name}`
    const context = `${this.#root(version)}/$metadata#${place}`
    const told = format.metadata === 'none' ? {} : { '@odata.context': context }
    const body =
      field.type.kind === 'complex'
        ? // An object that is not null, as the row plan makes it.
          { ...told, ...(value as object) }
        : { ...told, value: format.isIeee754 && field.type.kind === 'decimal' ? `${value}` : value }
    return { status: 200, headers: headersOf(request), body: JSON.stringify(body) }
  }

  async #count(
    { entity, version, options, companyId }: SetQuery,
    conditions: Conditions,
    reading: ReadContext,
  ): Promise<number> {
    const writer = new SqlWriter(this.#context, options.period)
    const source = rootSource(entity, version)
    const where = whereOf({ writer, source }, options, conditions)
    const count = joined(`select count(*) as n from ${writer.from(source)}`, where)
    const isScan = reading.reads.scan !== undefined || options.filter !== undefined
    const query = { context: this.#context, entity, version }
    if (!isScan) await requireShortLists(reading, query, conditions)
    const rows = isScan
      ? await scan(
          reading,
          { context: this.#context, entity, table: entity.table.name, companyId, options },
          count,
        )
      : await reading.reads.all(count.text, ...count.values)
    return Number(rows[0]?.['n'] ?? 0)
  }
}
