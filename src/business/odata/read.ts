/**
 * Answers GET: rows, one row, a count, one field, out of either store, as JSON with context, tags and next links.
 * One query per level of `$expand`, however many rows there are. It writes nothing and decides nothing about rights.
 */

import type { SqlRow, SqlValue } from '#stores/store.ts'
import { leadsToList, rootSource } from '../compile/check.ts'
import { type Dialect, joined, SqlWriter } from '../compile/sql.ts'
import type { Entity, Model, Version } from '../entity.ts'
import { refuse } from '../errors.ts'
import { type BusinessAnswer, jsonHeaders, namesTag, type Reads, textAnswer } from '../message.ts'
import { absent, below, ofCompany, writtenPart } from './addressed-row.ts'
import {
  type Budget,
  type Conditions,
  type Hanging,
  LevelStatement,
  type ReadRow,
  whereOf,
} from './level-statement.ts'
import { odataLimits } from './limits.ts'
import { lastOf, requireNarrowing, searchAfter, searchOf } from './narrowing.ts'
import { type ExpandOption, plainOptions, type QueryOptions } from './options.ts'
import { among, type Bounds, PathRows, type ResolvedPath } from './path-rows.ts'
import type { DataRequest } from './request.ts'

export interface ReaderOptions {
  readonly model: Model
  /** The vendor word before `.NAV` in names of types and actions. */
  readonly namespace: string
  /** Up to and without the version segment, no slash at the end: `https://host/api`. */
  readonly publicUrl: string
  readonly dialect: 'sqlite' | 'postgres'
  /** Rows of a page when the client says nothing; at most the limit of `odata/limits.ts`. */
  readonly pageSize?: number
}

export interface ShownRow {
  /** As in an answer: context and tag first. */
  readonly body: Readonly<Record<string, unknown>>
  readonly etag: string
  /** The row's own address, absolute: for `Location`. */
  readonly location: string
}

export interface Reader {
  /**
   * The answer to a GET. `companyId` is undefined only where the path names no company. `visible` narrows the set
   * `companies` to those ids; undefined: all. Throws `ApiError`s of `errors.ts`.
   */
  read(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    visible: readonly string[] | undefined,
  ): Promise<BusinessAnswer>
  /**
   * For writing: the ids of the rows on the way and of the last one. 404 when one of them is not there. For a set
   * (POST), `id` is undefined. With `odd` the last key is not looked up: the contract's POST forms with a key.
   */
  resolve(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    odd?: 'last-key-ignored',
  ): Promise<ResolvedPath>
  /**
   * One row as the answer to a write, in the request's version, with its `$select` and `$expand`. `row`: all of its
   * columns, where the write knows them.
   */
  show(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    entity: Entity,
    written: { readonly id: string; readonly row: SqlRow | undefined },
  ): Promise<ShownRow>
  /** The id of a company by the request's key; 404 `Internal_CompanyNotFound`. */
  companyId(reads: Reads, request: DataRequest): Promise<string | undefined>
}

export function createReader(options: ReaderOptions): Reader {
  return new SqlReader(options)
}

interface Level {
  readonly rows: readonly ReadRow[]
  /** Where the page ended, when there are more rows. */
  readonly token: string | undefined
}

interface WholeRow {
  readonly read: LevelStatement
  readonly text: string
  /** The values behind the id and the company. */
  readonly values: readonly SqlValue[]
}

const nothingThere: BusinessAnswer = {
  status: 204,
  headers: { 'OData-Version': '4.0' },
  body: undefined,
}

function withId(entity: Entity, id: string, companyId: string | undefined): Conditions {
  return (writer) => [
    joined('t0.id = ', writer.parameter('text', id)),
    ...ofCompany(entity, companyId)(writer),
  ]
}

/** What an address of one row says of more than one is passed over. */
function ofOneRow(options: QueryOptions): QueryOptions {
  const none = { filter: undefined, orderBy: [], top: undefined, skip: 0, skipToken: undefined }
  return { ...options, ...none }
}

class SqlReader implements Reader {
  readonly #dialect: Dialect
  readonly #pageSize: number
  readonly #publicUrl: string
  readonly #paths: PathRows
  /** What reads a whole row by its id, by set and version: the answer to nearly every write. */
  readonly #wholeRows = new Map<string, WholeRow>()

  constructor({ dialect, pageSize, publicUrl, model }: ReaderOptions) {
    this.#dialect = dialect
    this.#publicUrl = publicUrl
    this.#paths = new PathRows(dialect, model)
    this.#pageSize = Math.min(pageSize ?? odataLimits.pageSizeMax, odataLimits.pageSizeMax)
  }

  async read(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    visible: readonly string[] | undefined,
  ): Promise<BusinessAnswer> {
    switch (request.kind) {
      case 'rows':
        return this.#rows(reads, request, companyId, visible)
      case 'count': {
        const { entity } = lastOf(request)
        const conditions = await this.#paths.ofPath(reads, request, { companyId, visible })
        const count = await this.#count(reads, entity, request.version, request.options, conditions)
        return textAnswer(String(count))
      }
      case 'row': {
        const found = await this.#row(reads, request, { companyId, visible }, request.options)
        if (found === undefined) return nothingThere
        const { etag } = found
        if (namesTag(request.ifNoneMatch, etag)) {
          return { status: 304, headers: { ETag: etag, 'OData-Version': '4.0' }, body: undefined }
        }
        const body = { '@odata.context': this.#contextOf(request, companyId), ...found.body }
        return { status: 200, headers: { ...jsonHeaders, ETag: etag }, body: JSON.stringify(body) }
      }
      case 'property':
        return this.#property(reads, request, companyId, visible)
      case 'action':
        throw refuse.BadRequest_MethodNotAllowed({ method: 'GET', allow: 'POST' })
    }
  }

  companyId(reads: Reads, request: DataRequest): Promise<string | undefined> {
    return this.#paths.companyId(reads, request)
  }

  resolve(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    odd?: 'last-key-ignored',
  ): Promise<ResolvedPath> {
    return this.#paths.resolve(reads, request, companyId, odd)
  }

  async show(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    entity: Entity,
    { id, row: known }: { readonly id: string; readonly row: SqlRow | undefined },
  ): Promise<ShownRow> {
    const { version } = request
    const isLast = entity === lastOf(request).entity
    const shown = isLast ? ofOneRow(request.options) : plainOptions(entity, version)
    const isPlain = shown.expand.length === 0 && shown.selected === undefined
    const row = isPlain
      ? await this.#wholeRow(reads, entity, version, id, companyId, known)
      : await this.#rowOf(reads, entity, version, shown, id, companyId)
    if (row === undefined)
      throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `id ${id}` })
    const own = `${this.#root(version)}/$metadata#${below(companyId)}${entity.set}/$entity`
    const context = isLast ? this.#contextOf(request, companyId) : own
    const key = await this.#paths.wireKey(reads, entity, version, id, known)
    return {
      body: { '@odata.context': context, ...row.body },
      etag: row.etag,
      location: `${this.#root(version)}/${below(companyId)}${entity.set}(${key})`,
    }
  }

  async #wholeRow(
    reads: Reads,
    entity: Entity,
    version: Version,
    id: string,
    companyId: string | undefined,
    cells: SqlRow | undefined,
  ): Promise<ReadRow | undefined> {
    const own = entity.scope === 'installation' || companyId === undefined ? [id] : [id, companyId]
    const key = `${version} ${entity.set}`
    let known = this.#wholeRows.get(key)
    if (known === undefined) {
      const read = new LevelStatement(this.#dialect, entity, version, plainOptions(entity, version))
      const { text, values } = read.page(withId(entity, id, companyId), 1)
      known = { read, text, values: values.slice(own.length) }
      this.#wholeRows.set(key, known)
    }
    const { read, text, values } = known
    if (cells !== undefined && read.isPlain) return read.row(cells)
    const [row] = await reads.all(text, ...own, ...values)
    return row === undefined ? undefined : read.row(row)
  }

  async #rowOf(
    reads: Reads,
    entity: Entity,
    version: Version,
    options: QueryOptions,
    id: string,
    companyId: string | undefined,
  ): Promise<ReadRow | undefined> {
    const conditions = withId(entity, id, companyId)
    return await this.#oneRow(reads, entity, version, options, conditions, companyId)
  }

  /** Where a view works columns out, most rows are as they stand: those are looked for first, without it. */
  async #oneRow(
    reads: Reads,
    entity: Entity,
    version: Version,
    options: QueryOptions,
    conditions: Conditions,
    companyId: string | undefined,
  ): Promise<ReadRow | undefined> {
    const { view, ...plain } = entity
    const unworked: Conditions = (writer, source) => [
      ...conditions(writer, source),
      joined(`not (${view?.works ?? ''})`),
    ]
    const budget = { rows: odataLimits.answerRowsMax }
    const look = async (from: Entity, where: Conditions): Promise<ReadRow | undefined> =>
      (await this.#level(reads, from, version, options, where, companyId, 1, budget)).rows[0]
    const standing = view === undefined ? undefined : await look(plain, unworked)
    return standing ?? (await look(entity, conditions))
  }

  /** The row an address names. Refused where a key names none; undefined where a navigation leads to none. */
  async #row(
    reads: Reads,
    request: DataRequest,
    bounds: Bounds,
    options: QueryOptions,
  ): Promise<ReadRow | undefined> {
    const { version } = request
    const last = lastOf(request)
    const { companyId } = bounds
    const conditions = await this.#paths.ofPath(reads, request, bounds)
    const one = ofOneRow(options)
    const row = await this.#oneRow(reads, last.entity, version, one, conditions, companyId)
    if (row === undefined && last.key !== undefined) throw absent(last)
    return row
  }

  /** Of one row, below the path of the request. */
  #contextOf(request: DataRequest, companyId: string | undefined): string {
    const { selected } = request.options
    const select = selected === undefined ? '' : `(${selected})`
    const place = this.#contextPath(request, companyId)
    return `${this.#root(request.version)}/$metadata#${place}${select}/$entity`
  }

  #root(version: Version): string {
    return `${this.#publicUrl}/${version}`
  }

  /** `companies(…)/salesInvoices(…)/salesInvoiceLines`, keys as in the address. */
  #contextPath(request: DataRequest, companyId: string | undefined): string {
    const steps = request.path.map(({ entity, key, navigation }, at) => {
      const name = navigation?.name ?? entity.set
      const isLast = at === request.path.length - 1
      return key === undefined || isLast ? name : `${name}(${key.map(writtenPart).join(',')})`
    })
    return `${below(companyId)}${steps.join('/')}`
  }

  async #rows(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    visible: readonly string[] | undefined,
  ): Promise<BusinessAnswer> {
    const { version, options } = request
    const { entity } = lastOf(request)
    requireNarrowing(request)
    const conditions = await this.#paths.ofPath(reads, request, { companyId, visible })
    const hangsLists = options.expand.some((one) => leadsToList(one.navigation, version))
    const usual = hangsLists
      ? Math.min(this.#pageSize, odataLimits.expandedPageSize)
      : this.#pageSize
    const page = Math.min(request.maxPageSize ?? usual, options.top ?? Number.POSITIVE_INFINITY)
    const budget = { rows: odataLimits.answerRowsMax }
    const level =
      page === 0
        ? { rows: [], token: undefined }
        : await this.#level(reads, entity, version, options, conditions, companyId, page, budget)
    const select = options.selected === undefined ? '' : `(${options.selected})`
    const place = this.#contextPath(request, companyId)
    const body: Record<string, unknown> = {
      '@odata.context': `${this.#root(version)}/$metadata#${place}${select}`,
    }
    if (options.count) {
      body['@odata.count'] = await this.#count(reads, entity, version, options, conditions)
    }
    body['value'] = level.rows.map((row) => row.body)
    const left = options.top === undefined ? undefined : options.top - level.rows.length
    if (level.token !== undefined && left !== 0) {
      const { path, search } = request.address
      const next = searchAfter(search, level.token, left)
      body['@odata.nextLink'] = `${this.#root(version)}/${path}?${next}`
    }
    const applied =
      request.maxPageSize === undefined ? {} : { 'Preference-Applied': `odata.maxpagesize=${page}` }
    return { status: 200, headers: { ...jsonHeaders, ...applied }, body: JSON.stringify(body) }
  }

  async #property(
    reads: Reads,
    request: DataRequest & { readonly kind: 'property' },
    companyId: string | undefined,
    visible: readonly string[] | undefined,
  ): Promise<BusinessAnswer> {
    const { version, field } = request
    const options = { ...plainOptions(lastOf(request).entity, version), fields: [field] }
    const row = await this.#row(reads, request, { companyId, visible }, options)
    const value = row?.body[field.name] ?? null
    if (row === undefined || value === null) return nothingThere
    if (request.raw) return textAnswer(String(value))
    const place = `${this.#contextPath(request, companyId)}(${row.id})/${field.name}`
    const context = `${this.#root(version)}/$metadata#${place}`
    const body =
      field.type.kind === 'complex'
        ? // An object that is not null, as the row plan makes it.
          { '@odata.context': context, ...(value as object) }
        : { '@odata.context': context, value }
    return { status: 200, headers: jsonHeaders, body: JSON.stringify(body) }
  }

  async #count(
    reads: Reads,
    entity: Entity,
    version: Version,
    options: QueryOptions,
    conditions: Conditions,
  ): Promise<number> {
    const writer = new SqlWriter(this.#dialect)
    const source = rootSource(entity, version)
    const where = whereOf(writer, source, options, conditions)
    const text = joined(`select count(*) as n from ${writer.from(source)}`, where)
    const rows = await reads.all(text.text, ...text.values)
    return Number(rows[0]?.['n'] ?? 0)
  }

  /** One page of rows with everything expanded below them. */
  async #level(
    reads: Reads,
    entity: Entity,
    version: Version,
    options: QueryOptions,
    conditions: Conditions,
    companyId: string | undefined,
    page: number,
    budget: Budget,
  ): Promise<Level> {
    const read = new LevelStatement(this.#dialect, entity, version, options)
    const text = read.page(conditions, page)
    const found = await reads.all(text.text, ...text.values)
    const rows = found.slice(0, page).map((row) => read.row(row))
    budget.rows -= rows.length
    await this.#expandAll(reads, entity, version, options, rows, companyId, budget)
    const last = found[page - 1]
    const token = found.length > page && last !== undefined ? read.token(last) : undefined
    return { rows, token }
  }

  async #expandAll(
    reads: Reads,
    entity: Entity,
    version: Version,
    options: QueryOptions,
    rows: readonly ReadRow[],
    companyId: string | undefined,
    budget: Budget,
  ): Promise<void> {
    if (rows.length === 0) return
    for (const [at, one] of options.expand.entries()) {
      await this.#expandOne(reads, { entity, version, one, at }, rows, companyId, budget)
    }
  }

  async #expandOne(
    reads: Reads,
    what: { entity: Entity; version: Version; one: ExpandOption; at: number },
    rows: readonly ReadRow[],
    companyId: string | undefined,
    budget: Budget,
  ): Promise<void> {
    const { entity, version, one, at } = what
    const { navigation, options } = one
    const isList = leadsToList(navigation, version)
    const hangsOn = (row: ReadRow): string => String(row.cells[`x${at}`])
    const values = [...new Set(rows.map(hangsOn))]
    const share = Math.max(1, Math.floor(Math.max(0, budget.rows) / values.length))
    const page = isList ? Math.min(share, this.#pageSize, options.top ?? share) : 1
    const hanging: Hanging = { column: navigation.on.foreign, values }
    const conditions: Conditions = (writer) => [
      ...ofCompany(one.entity, companyId)(writer),
      among(this.#dialect, writer, hanging.column, hanging.values),
    ]
    const read = new LevelStatement(this.#dialect, one.entity, version, options)
    const text = read.pages(conditions, hanging.column, page)
    const found = await reads.all(text.text, ...text.values)
    const totals = new Map(found.map((row) => [String(row['hanging']), Number(row['total'] ?? 0)]))
    const paged = found.filter((row) => Number(row['place']) > options.skip)
    const byValue = Map.groupBy(paged, (row) => String(row['hanging']))
    const shown: ReadRow[] = []
    const lists = new Map<string, readonly ReadRow[]>()
    for (const [value, group] of byValue) {
      const list = group.slice(0, page).map((row) => read.row(row))
      lists.set(value, list)
      shown.push(...list)
    }
    budget.rows -= shown.length
    await this.#expandAll(reads, one.entity, version, options, shown, companyId, budget)
    for (const row of rows) {
      const list = lists.get(hangsOn(row)) ?? []
      const group = byValue.get(hangsOn(row)) ?? []
      if (!isList) {
        row.body[navigation.name] = list[0]?.body ?? null
        continue
      }
      if (options.count) row.body[`${navigation.name}@odata.count`] = totals.get(hangsOn(row)) ?? 0
      row.body[navigation.name] = list.map((entry) => entry.body)
      const left = options.top === undefined ? undefined : options.top - list.length
      const last = group[page - 1]
      if (group.length > page && last !== undefined && left !== 0) {
        const search = searchAfter(searchOf(one.text), read.token(last), left)
        const own = `${below(companyId)}${entity.set}(${row.id})/${navigation.name}`
        row.body[`${navigation.name}@odata.nextLink`] = `${this.#root(version)}/${own}?${search}`
      }
    }
  }
}
