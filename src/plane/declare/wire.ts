/** What a type looks like on the wire: names, one shape for each api-version, lists. */

import type { TSchema } from 'typebox'
import type { ApiError, Problem } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Context, InsideContext, Resource } from './resource.ts'

/**
 * One published shape of a type. Released versions never change. `body` is the wire schema of a PUT, the
 * whole body; all its violations are reported at once, each with its path.
 */
export interface Version<M> {
  /** `2022-04-01`, also with `-preview`. */
  readonly date: string
  readonly body: TSchema
  /**
   * Checks what a schema cannot: how parts of a body depend on each other. Runs right after the schema, and again on
   * the result of a merge patch. Reports every problem, each with its path as this version writes it.
   */
  problems?(body: never): readonly Problem[]
  /**
   * The rule for names in this version, where it differs from the type's. Only a PUT applies it: existing resources
   * stay readable.
   */
  readonly name?: NameRule
  /** The schema of the answer besides `id`, `name` and `type`, for OpenAPI. */
  readonly answer: TSchema
  /** How the request is treated when it contains a property that the schema does not know. */
  readonly unknownProperties: 'ignore' | 'refuse'
  /** Numbers and booleans may be written as text, and the other way round, as the published service accepts them. */
  readonly scalars?: 'lenient'
  /**
   * Makes the stored model from a valid body, which may still contain unknown properties, and fills in defaults.
   * `previous` gives what a body may leave out without losing it (secrets). Cannot fail.
   */
  toModel(body: never, previous: M | undefined, context: InsideContext): M
  /** Builds the answer: `properties` and other members besides the envelope. Never a secret. */
  fromModel(model: M, view: View): Readonly<Record<string, unknown>>
  /** A body as it may be recorded, where the schema does not mark its secrets as `writeOnly`. */
  withoutSecrets?(body: object): object
  /**
   * How PATCH works in this version. `merge` (default): a JSON merge patch on the body as `fromModel` shows it, then
   * as PUT. `tags`: only tags take effect. `none`: 405. Otherwise a schema and a function.
   */
  readonly patch?: 'merge' | 'tags' | 'none' | PatchRule<M>
}

interface PatchRule<M> {
  readonly body: TSchema
  /**
   * A merge patch of exactly the properties that `body` declares. Null removes a property and reaches `apply` as
   * null. Any other member is refused, unless it equals what GET shows.
   */
  readonly isExact?: true
  apply(body: never, previous: M, context: InsideContext): M
}

/** What `fromModel` may use besides the model. */
export interface View
  extends Pick<
    Resource,
    'id' | 'systemData' | 'state' | 'observed' | 'location' | 'tags' | 'etag'
  > {
  readonly words: VendorWords
}

/** What a name may look like. `code` replaces `InvalidResourceName`. */
export interface NameRule {
  readonly pattern: RegExp
  /** The rule in words: `1 to 90 letters, digits, …`. */
  readonly rule: string
  readonly refuse?: (name: string) => ApiError
}

/** One page of a type's list. `next` is the type's own cursor; the plane signs it. */
export interface ListPage<T> {
  readonly items: readonly T[]
  readonly next?: string
  /** The number of items on all pages, for lists that report it. */
  readonly count?: number
}

export interface ListContext extends Context {
  /** The scope or parent whose collection is listed. */
  readonly parent: ResourceId
  readonly query: URLSearchParams
  readonly limit: number
  readonly cursor: string | undefined
}
