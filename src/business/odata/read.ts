/**
 * Answers GET: rows, one row, a count, one field, out of either store, as JSON with context, tags and next links.
 * One query per level of `$expand`, however many rows there are. It writes nothing and decides nothing about rights.
 */

import type { SqlRow } from '#stores/store.ts'
import { leadsToList, rootSource } from '../compile/check.ts'
import { between, type Dialect, type Fragment, joined, SqlWriter } from '../compile/sql.ts'
import { type Entity, fieldNamed, type Model, type Version } from '../entity.ts'
import { refuse } from '../errors.ts'
import { type BusinessAnswer, jsonHeaders, namesTag, type Reads, textAnswer } from '../message.ts'
import {
  absent,
  belongs,
  below,
  describeKey,
  keyConditions,
  ofCompany,
  writtenPart,
} from './addressed-row.ts'
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

/** Where a request leads, found in the store. */
export interface ResolvedPath {
  /** The id of the row of each segment but the last, in order. */
  readonly parents: readonly string[]
  /** The row of the last segment, when it names one. */
  readonly id: string | undefined
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
  /** One row as the answer to a write, in the request's version, with its `$select` and `$expand`. */
  show(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    entity: Entity,
    id: string,
  ): Promise<ShownRow>
  /** The id of a company by the request's key; 404 `Internal_CompanyNotFound`. */
  companyId(reads: Reads, request: DataRequest): Promise<string | undefined>
}

export function createReader(options: ReaderOptions): Reader {
  return new SqlReader(options)
}

/** Conditions on the rows of a level, besides those of its options. */

interface Level {
  readonly rows: readonly ReadRow[]
  /** Where the page ended, when there are more rows. */
  readonly token: string | undefined
}

class SqlReader implements Reader {
  readonly #dialect: Dialect
  readonly #pageSize: number
  readonly #publicUrl: string
  readonly #model: Model

  constructor({ dialect, pageSize, publicUrl, model }: ReaderOptions) {
    this.#dialect = dialect
    this.#publicUrl = publicUrl
    this.#model = model
    this.#pageSize = Math.min(pageSize ?? odataLimits.pageSizeMax, odataLimits.pageSizeMax)
  }

  async companyId(reads: Reads, request: DataRequest): Promise<string | undefined> {
    const { company, version } = request
    if (company === undefined) return undefined
    const companies = this.#model.find('companies', version)
    if (companies === undefined) throw new Error('The model has no companies.')
    const row = await this.#one(reads, companies, version, keyConditions(company))
    if (row === undefined) throw refuse.Internal_CompanyNotFound({ key: describeKey(company) })
    return String(row['id'])
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
        const conditions = await this.#ofPath(reads, request, companyId, visible)
        const count = await this.#count(reads, entity, request.version, request.options, conditions)
        return textAnswer(String(count))
      }
      case 'row': {
        const path = await this.#walk(reads, request, companyId, visible, 'whole')
        const row = path.at(-1)
        if (row === undefined)
          return { status: 204, headers: { 'OData-Version': '4.0' }, body: undefined }
        const shown = await this.show(
          reads,
          request,
          companyId,
          lastOf(request).entity,
          String(row['id']),
        )
        if (namesTag(request.ifNoneMatch, shown.etag)) {
          return {
            status: 304,
            headers: { ETag: shown.etag, 'OData-Version': '4.0' },
            body: undefined,
          }
        }
        const headers = { ...jsonHeaders, ETag: shown.etag }
        return { status: 200, headers, body: JSON.stringify(shown.body) }
      }
      case 'property':
        return this.#property(reads, request, companyId, visible)
      case 'action':
        throw refuse.BadRequest_MethodNotAllowed({ method: 'GET', allow: 'POST' })
    }
  }

  async resolve(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    odd?: 'last-key-ignored',
  ): Promise<ResolvedPath> {
    const { key, navigation } = lastOf(request)
    const single =
      key !== undefined || (navigation !== undefined && !leadsToList(navigation, request.version))
    const whole = single && odd === undefined
    const rows = await this.#walk(reads, request, companyId, undefined, whole ? 'whole' : 'parents')
    const ids = rows.map((row) => (row === undefined ? undefined : String(row['id'])))
    if (whole && ids.at(-1) === undefined) throw absent(lastOf(request))
    // Parents that are not there were refused on the way.
    const parents = (whole ? ids.slice(0, -1) : ids) as string[]
    return { parents, id: whole ? ids.at(-1) : undefined }
  }

  async show(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    entity: Entity,
    id: string,
  ): Promise<ShownRow> {
    const { version, options } = request
    const isLast = entity === lastOf(request).entity
    const shown: QueryOptions = isLast
      ? {
          ...options,
          filter: undefined,
          orderBy: [],
          top: undefined,
          skip: 0,
          skipToken: undefined,
        }
      : plainOptions(entity, version)
    const conditions: Conditions = (writer) => [
      joined('t0.id = ', writer.parameter('text', id)),
      ...ofCompany(entity, companyId)(writer),
    ]
    const budget = { rows: odataLimits.answerRowsMax }
    const level = await this.#level(reads, entity, version, shown, conditions, companyId, 1, budget)
    const row = level.rows[0]
    if (row === undefined)
      throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `id ${id}` })
    const place = this.#contextPath(request, companyId)
    const select = shown.selected === undefined ? '' : `(${shown.selected})`
    const context = `${this.#root(version)}/$metadata#${isLast ? place : `${below(companyId)}${entity.set}`}${select}/$entity`
    return {
      body: { '@odata.context': context, ...row.body },
      etag: row.etag,
      location: `${this.#root(version)}/${below(companyId)}${entity.set}(${await this.#wireKey(reads, entity, version, id)})`,
    }
  }

  #root(version: Version): string {
    return `${this.#publicUrl}/${version}`
  }

  /** The key as the version writes it in addresses: a GUID bare, text in quotes. */
  async #wireKey(reads: Reads, entity: Entity, version: Version, id: string): Promise<string> {
    const field = fieldNamed(entity, version, entity.key)
    if (field === undefined || field.type.kind !== 'string') return id
    const row = await this.#one(reads, entity, version, (writer) => [
      joined('t0.id = ', writer.parameter('text', id)),
    ])
    return `'${encodeURIComponent(String(row?.[field.column] ?? id))}'`
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
    const conditions = await this.#ofPath(reads, request, companyId, visible)
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
    const path = await this.#walk(reads, request, companyId, visible, 'whole')
    const row = path.at(-1)
    const headers = { 'OData-Version': '4.0' }
    if (row === undefined) return { status: 204, headers, body: undefined }
    const options = { ...plainOptions(lastOf(request).entity, version), fields: [field] }
    const conditions: Conditions = (writer) => [
      joined('t0.id = ', writer.parameter('text', String(row['id']))),
    ]
    const { entity } = lastOf(request)
    const budget = { rows: 1 }
    const level = await this.#level(
      reads,
      entity,
      version,
      options,
      conditions,
      companyId,
      1,
      budget,
    )
    const value = level.rows[0]?.body[field.name] ?? null
    if (value === null) return { status: 204, headers, body: undefined }
    if (request.raw) return textAnswer(String(value))
    const place = `${this.#contextPath(request, companyId)}(${String(row['id'])})/${field.name}`
    const context = `${this.#root(version)}/$metadata#${place}`
    const body =
      field.type.kind === 'complex'
        ? // An object that is not null, as the row plan makes it.
          { '@odata.context': context, ...(value as object) }
        : { '@odata.context': context, value }
    return { status: 200, headers: jsonHeaders, body: JSON.stringify(body) }
  }

  /** Conditions for the rows of the last segment; the rows on the way must be there. */
  async #ofPath(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    visible: readonly string[] | undefined,
  ): Promise<Conditions> {
    const parents = await this.#walk(reads, request, companyId, visible, 'parents')
    const { entity, navigation } = lastOf(request)
    const parent = parents.at(-1)
    return (writer) => [
      ...ofCompany(entity, companyId)(writer),
      ...(navigation === undefined || parent === undefined
        ? []
        : [belongs(writer, navigation.on.foreign, parent[navigation.on.local] ?? null)]),
      ...(entity.scope === 'installation' && visible !== undefined
        ? [this.#among(writer, 'id', visible)]
        : []),
    ]
  }

  /** The rows of the segments. Those on the way must be there; the last may be null behind a navigation. */
  async #walk(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    visible: readonly string[] | undefined,
    how: 'whole' | 'parents',
  ): Promise<readonly (SqlRow | undefined)[]> {
    const { path, version } = request
    const steps = how === 'whole' ? path : path.slice(0, -1)
    const rows: (SqlRow | undefined)[] = []
    for (const step of steps) {
      const { entity, key, navigation } = step
      const before = rows.at(-1)
      const conditions: Conditions = (writer, source) => [
        ...ofCompany(entity, companyId)(writer),
        ...(key === undefined ? [] : keyConditions(key)(writer, source)),
        ...(navigation === undefined || before === undefined
          ? []
          : [belongs(writer, navigation.on.foreign, before[navigation.on.local] ?? null)]),
        ...(entity.scope === 'installation' && visible !== undefined
          ? [this.#among(writer, 'id', visible)]
          : []),
      ]
      const row = await this.#one(reads, entity, version, conditions)
      const isLast = rows.length === path.length - 1
      if (row === undefined && (key !== undefined || !isLast)) throw absent(step)
      rows.push(row)
    }
    return rows
  }

  /** Every column of one row. */
  async #one(
    reads: Reads,
    entity: Entity,
    version: Version,
    conditions: Conditions,
  ): Promise<SqlRow | undefined> {
    const writer = new SqlWriter(this.#dialect)
    const source = rootSource(entity, version)
    const where = between(' and ', [...conditions(writer, source), ...writer.ofSet(source)])
    const text = joined(`select t0.* from ${writer.from(source)} where `, where, ' limit 1')
    return (await reads.all(text.text, ...text.values))[0]
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

  #among(writer: SqlWriter, column: string, values: readonly string[]): Fragment {
    const list = JSON.stringify(values)
    return this.#dialect === 'postgres'
      ? joined(
          `t0.${column} in (select json_array_elements_text(`,
          writer.parameter('text', list),
          '::json))',
        )
      : joined(
          `t0.${column} in (select value from json_each(`,
          writer.parameter('text', list),
          '))',
        )
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
      this.#among(writer, hanging.column, hanging.values),
    ]
    const read = new LevelStatement(this.#dialect, one.entity, version, options)
    const text = read.pages(conditions, hanging.column, page)
    const found = await reads.all(text.text, ...text.values)
    const byValue = Map.groupBy(found, (row) => String(row['hanging']))
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
      if (options.count)
        row.body[`${navigation.name}@odata.count`] = Number(group[0]?.['total'] ?? 0)
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
