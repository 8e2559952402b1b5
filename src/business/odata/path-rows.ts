/**
 * Finds the rows that the segments of an address name, one after the other. It reads of each row what the next step
 * needs. It does not check rights.
 */

import type { SqlRow } from '#stores/store.ts'
import { between, joined, type SqlContext } from '../compile/fragment.ts'
import { inList } from '../compile/in-list.ts'
import { leadsToList, rootSource } from '../compile/paths.ts'
import { SqlWriter } from '../compile/sql.ts'
import { type Entity, fieldNamed, type Model, type Version } from '../entity.ts'
import { refuse } from '../errors.ts'
import type { Reads } from '../message.ts'
import * as tables from '../tables.ts'
import { absent, columnEquals, describeKey, keyConditions, ofCompany } from './addressed-row.ts'
import type { Conditions } from './level-statement.ts'
import type { DataRequest, Segment } from './request.ts'
import { lastSegment } from './search-options.ts'

/** The rows that the path of a request leads to. */
export interface ResolvedPath {
  /** The id of the row of each segment except the last, in order. */
  readonly parents: readonly string[]
  /** The row of the last segment, if that segment names one. */
  readonly id: string | undefined
}

/**
 * The rows that the address of a line, or of a document's lines, names without a lookup. A line that exists belongs
 * to its document, so the document exists. A write below a document reads its row anyway.
 */
export function knownPath({ path, kind }: DataRequest): ResolvedPath | undefined {
  const [first, second] = path
  const last = second ?? first
  if (last?.entity.table !== tables.lines || path.length > 2 || kind === 'action') {
    return undefined
  }
  const id = knownId(last.key)
  if (last === first) return id === undefined ? undefined : { parents: [], id }
  const documentId = first?.entity.table === tables.documents ? knownId(first.key) : undefined
  if (documentId === undefined || (last.key !== undefined && id === undefined)) return undefined
  return { parents: [documentId], id }
}

/** The ids of the rows that the address of one row consists of. Undefined if it names a row in another way. */
export function idsOf(request: DataRequest): ResolvedPath | undefined {
  const [first] = request.path
  if (first === undefined || request.path.length > 1) return knownPath(request)
  const id = knownId(first.key)
  return id === undefined ? undefined : { parents: [], id }
}

/** The id by which the request names its company. Undefined if it names none, or in another way. */
export function companyIdIn({ company }: DataRequest): string | undefined {
  return knownId(company)
}

function knownId(key: Segment['key']): string | undefined {
  const [part] = key ?? []
  return key?.length === 1 && part?.field.column === 'id' ? String(part.value) : undefined
}

/**
 * The conditions on every step: rows of the company, and only the companies that the caller may see. Undefined
 * means all companies.
 */
export interface Bounds {
  readonly companyId: string | undefined
  readonly visible: readonly string[] | undefined
  /** The rows are named by their ids, too. */
  readonly areNamed?: boolean
  /** Set if the client follows the set: the token of the delta link at its end. */
  readonly deltaToken?: string
}

export class PathRows {
  readonly #context: SqlContext
  readonly #model: Model

  constructor(context: SqlContext, model: Model) {
    this.#context = context
    this.#model = model
  }

  /**
   * The id of a company by the request's key, whose row ends with `lock`. Answers 404 `Internal_CompanyNotFound` if there
   * is none.
   */
  async companyId(reads: Reads, request: DataRequest, lock = ''): Promise<string | undefined> {
    const { company, version } = request
    if (company === undefined) return undefined
    const id = knownId(company)
    const named = id === undefined ? await this.#companyByName(reads, company, version) : undefined
    // The usual form, which every request uses. It needs no composed statement.
    const [known] =
      id === undefined && lock === ''
        ? [named]
        : await reads.all(
            `select id from business_companies where id = ?${lock}`,
            id ?? String(named?.['id']),
          )
    if (known === undefined) throw refuse.Internal_CompanyNotFound({ key: describeKey(company) })
    return String(known['id'])
  }

  #companyByName(
    reads: Reads,
    company: Parameters<typeof keyConditions>[0],
    version: Version,
  ): Promise<SqlRow | undefined> {
    const companies = this.#model.find('companies', version)
    if (companies === undefined) throw new Error('The model has no companies.')
    return this.#one(reads, { entity: companies, version }, keyConditions(company), [])
  }

  async resolve(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    odd?: 'last-key-ignored',
  ): Promise<ResolvedPath> {
    const { key, navigation } = lastSegment(request)
    const single =
      key !== undefined || (navigation !== undefined && !leadsToList(navigation, request.version))
    const whole = single && odd === undefined
    const bounds = { companyId, visible: undefined }
    const rows = await this.#walk(reads, request, bounds, whole ? 'whole' : 'parents')
    const ids = rows.map((row) => (row === undefined ? undefined : String(row['id'])))
    if (whole && ids.at(-1) === undefined) throw absent(lastSegment(request))
    // Missing parents were refused on the way.
    const parents = (whole ? ids.slice(0, -1) : ids) as string[]
    return { parents, id: whole ? ids.at(-1) : undefined }
  }

  /** The conditions on the rows of the last segment. Answers 404 if a row on the way does not exist. */
  async ofPath(reads: Reads, request: DataRequest, bounds: Bounds): Promise<Conditions> {
    const known = knownPath(request)
    const parents =
      known?.id === undefined
        ? await this.#walk(reads, request, bounds, 'parents')
        : known.parents.map((id) => ({ id }))
    return this.#ofStep(lastSegment(request), parents.at(-1), bounds)
  }

  /** The key of a row as addresses of this version write it: a GUID without quotes, text in quotes. */
  async wireKey(
    reads: Reads,
    {
      entity,
      version,
      id,
    }: { readonly entity: Entity; readonly version: Version; readonly id: string },
    known: SqlRow | undefined,
  ): Promise<string> {
    const field = fieldNamed(entity, version, entity.key)
    if (field === undefined || field.type.kind !== 'string') return id
    const own: Conditions = (writer) => [joined('t0.id = ', writer.parameter('text', id))]
    const row = known ?? (await this.#one(reads, { entity, version }, own, [field.column]))
    return `'${encodeURIComponent(String(row?.[field.column] ?? id))}'`
  }

  /**
   * The rows of the segments. The rows on the way have to exist. After a navigation the last one may be missing.
   */
  async #walk(
    reads: Reads,
    { path, version }: DataRequest,
    bounds: Bounds,
    how: 'whole' | 'parents',
  ): Promise<readonly (SqlRow | undefined)[]> {
    const steps = how === 'whole' ? path : path.slice(0, -1)
    const rows: (SqlRow | undefined)[] = []
    for (const [at, step] of steps.entries()) {
      const next = path[at + 1]?.navigation?.on.local
      const conditions = this.#ofStep(step, rows.at(-1), bounds)
      const columns = next === undefined ? [] : [next]
      const row = await this.#one(reads, { entity: step.entity, version }, conditions, columns)
      const isLast = at === path.length - 1
      if (row === undefined && (step.key !== undefined || !isLast)) throw absent(step)
      rows.push(row)
    }
    return rows
  }

  #ofStep(step: Segment, before: SqlRow | undefined, bounds: Bounds): Conditions {
    const { entity, key, navigation } = step
    const { companyId, visible, areNamed = false } = bounds
    const isBelow = navigation !== undefined && before !== undefined
    const areFound = areNamed || (isBelow && key === undefined)
    return (writer, source) => [
      ...(key === undefined ? [] : keyConditions(key)(writer, source)),
      ...ofCompany(entity, companyId, areFound)(writer),
      ...(isBelow
        ? [columnEquals(writer, navigation.on.foreign, before[navigation.on.local] ?? null)]
        : []),
      ...(isBelow && key === undefined ? writer.withinTime(source) : []),
      ...(entity.scope === 'installation' && visible !== undefined
        ? [inList(this.#context.dialect, writer, 'id', visible)]
        : []),
    ]
  }

  /** One row: its id and the requested columns. */
  async #one(
    reads: Reads,
    { entity, version }: { readonly entity: Entity; readonly version: Version },
    conditions: Conditions,
    columns: readonly string[],
  ): Promise<SqlRow | undefined> {
    const writer = new SqlWriter(this.#context)
    const source = rootSource(entity, version)
    const where = between(' and ', [...conditions(writer, source), ...writer.ofSet(source)])
    const what = [...new Set(['id', ...columns])].map((column) => `t0.${column}`).join(', ')
    const text = joined(`select ${what} from ${writer.from(source)} where `, where, ' limit 1')
    return (await reads.all(text.text, ...text.values))[0]
  }
}
