/** What a type looks like on the wire: names, one shape for each api-version, lists. */

import type { TSchema } from 'typebox'
import type { ApiError, Problem } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Context, Resource } from './resource.ts'

/**
 * One published shape of a type. Released versions never change. `body` is the wire schema of a PUT, the
 * whole body; all its violations are reported at once, each with its path.
 */
export interface Version<M> {
  /** `2022-04-01`, also with `-preview`. */
  readonly date: string
  readonly body: TSchema
  /**
   * What a schema cannot say of a body by itself (one part of it needs another). Right after the schema, and again
   * on the outcome of a merge patch; every problem at once, each with its path as this version writes it.
   */
  problems?(body: never): readonly Problem[]
  /** The rule of names in this version, where it is not the type's. Asked of a PUT alone: what is there can be read. */
  readonly name?: NameRule
  /** The schema of the answer, for OpenAPI: what stands beside `id`, `name`, `type`. */
  readonly answer: TSchema
  /** What a property that the schema does not know does to a request. */
  readonly unknownProperties: 'ignore' | 'refuse'
  /** Numbers and truth values may be written as text, and text as one of them, as the published service takes them. */
  readonly scalars?: 'lenient'
  /**
   * After the schema: the body (valid; unknown properties still in it) to the stored model, defaults
   * filled. `previous` for what a body may leave out and must not lose (secrets). Cannot fail.
   */
  toModel(body: never, previous: M | undefined, context: Context): M
  /** Last, building the answer: `properties` and other members beside the envelope. Never a secret. */
  fromModel(model: M, view: View): Readonly<Record<string, unknown>>
  /** A body as it may be recorded, where the schema does not mark its secrets as `writeOnly`. */
  withoutSecrets?(body: object): object
  /**
   * PATCH in this version. `merge` (default): a JSON merge patch on the body as `fromModel` gives it,
   * then as PUT. `tags`: only tags take effect. `none`: 405. Or a schema and a function of its own.
   */
  readonly patch?: 'merge' | 'tags' | 'none' | PatchRule<M>
}

interface PatchRule<M> {
  readonly body: TSchema
  /**
   * A merge patch of what `body` declares and of nothing else: null takes away and comes to `apply` as it is; another
   * member is refused, unless it is as GET shows it.
   */
  readonly isExact?: true
  apply(body: never, previous: M, context: Context): M
}

/** What `fromModel` may show besides the model. */
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

/** What a type's list answers for one page. `next` is the type's own cursor, signed by the plane. */
export interface ListPage<T> {
  readonly items: readonly T[]
  readonly next?: string
  /** How many there are on all pages, for the lists that tell. */
  readonly count?: number
}

export interface ListContext extends Context {
  /** The scope or parent whose collection is asked for. */
  readonly parent: ResourceId
  readonly query: URLSearchParams
  readonly limit: number
  readonly cursor: string | undefined
}
