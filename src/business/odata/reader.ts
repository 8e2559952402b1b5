/** What a reader of rows answers, and what it is given: see `read.ts`. */

import type { Clock } from '#kernel/ports.ts'
import type { SqlRow } from '#stores/store.ts'
import type { Entity, Model } from '../entity.ts'
import type { BusinessAnswer, Reads } from '../message.ts'
import type { Budget } from './budget.ts'
import type { ReadRow } from './level-statement.ts'
import type { Bounds, ResolvedPath } from './path-rows.ts'
import type { DataRequest } from './request.ts'

export interface ReaderOptions {
  readonly model: Model
  /** The vendor word before `.NAV` in the names of types and actions. */
  readonly namespace: string
  /** The address up to the version segment, without a slash at the end: `https://host/api`. */
  readonly publicUrl: string
  readonly dialect: 'sqlite' | 'postgres'
  readonly clock: Clock
  /** The page size without a preference of the client. At most the limit in `odata/limits.ts`. */
  readonly pageSize?: number
}

export type Fields = ReadRow['fields']

/** A row that was written, and the request that shows it. */
export interface RowToShow {
  readonly reads: Reads
  readonly request: DataRequest
  readonly companyId: string | undefined
  readonly entity: Entity
  readonly id: string
  /** All of its columns, if the write knows them. */
  readonly row: SqlRow | undefined
  readonly budget?: Budget | undefined
}

export interface ShownRow {
  /** The row as in an answer: a JSON object that begins with context and tag. */
  readonly text: string
  /** The same as an object, without the context, where nothing but the row is shown. */
  readonly fields: Fields | undefined
  readonly etag: string
  /** The absolute address of the row, for `Location`. */
  readonly location: string
}

export interface Reader {
  /**
   * The answer to a GET. `companyId` is undefined only where the path names no company. `visible` narrows the set
   * `companies` to those ids; undefined: all. Throws `ApiError`s of `errors.ts`. Pages and lists end where the budget
   * does, which is that of one answer if none is given.
   */
  read(
    reading: { readonly reads: Reads; readonly budget?: Budget | undefined },
    request: DataRequest,
    bounds: Bounds,
  ): Promise<BusinessAnswer>
  /**
   * The answer to a GET of one row of the company that the address names by ids alone, whether or not there is such a
   * company. Undefined if there is no such row, and where the address or the options ask for more.
   */
  readById(
    reading: { readonly reads: Reads; readonly budget?: Budget | undefined },
    request: DataRequest,
    companyId: string,
  ): Promise<BusinessAnswer | undefined>
  /** The rows with these ids that match the options, as JSON, by id. */
  some(
    reading: { readonly reads: Reads },
    request: DataRequest,
    which: { readonly bounds: Bounds; readonly ids: readonly string[] },
  ): Promise<ReadonlyMap<string, string>>
  /**
   * Resolves the path of a write to the ids of the rows on the way and of the last one. Answers 404 if one of them
   * does not exist. For a set (POST), `id` is undefined. With `odd` the last key is not looked up, for the
   * contract's POST forms with a key.
   */
  resolve(
    reads: Reads,
    request: DataRequest,
    companyId: string | undefined,
    odd?: 'last-key-ignored',
  ): Promise<ResolvedPath>
  /** One row as the answer to a write, in the version of the request, with its `$select` and `$expand`. */
  show(written: RowToShow): Promise<ShownRow>
  /**
   * Makes all fields of the last segment's row out of all its columns. Undefined where it has more than they hold.
   */
  fieldsOf(request: DataRequest): ((row: SqlRow) => Fields) | undefined
  /**
   * The id of a company by the request's key, whose row is read with `lock` at the end of the statement. Answers 404
   * `Internal_CompanyNotFound` if there is none.
   */
  companyId(reads: Reads, request: DataRequest, lock?: string): Promise<string | undefined>
}
