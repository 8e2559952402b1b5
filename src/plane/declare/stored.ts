/** Types whose resources are stored. What only some of them can do is a capability: an object of its own. */

import type { ApiError, Problem } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { AttributeValue } from '../access.ts'
import type { SecretsOfType } from '../secrets.ts'
import type { Action } from './action.ts'
import type { Source } from './computed.ts'
import type { EveryType } from './every-type.ts'
import type { Context, Resource } from './resource.ts'
import type { Sample } from './sample.ts'
import type { ListContext, ListPage, NameRule, Version, View } from './wire.ts'

export interface RuleContext<M> extends Context {
  /** Knows what `rightsElsewhere` named and nothing else: inside a transaction nobody can be asked. */
  may(action: string, scope: ResourceId): boolean
  readonly id: ResourceId
  /** The id as the path has it: `id`, but for types with a `sharedRow`. */
  readonly requested: ResourceId
  readonly desired: M
  readonly previous: M | undefined
  readonly location: string | undefined
  readonly tags: Readonly<Record<string, string>> | undefined
}

interface DeleteRuleContext<M> extends Context {
  /** Knows what `rightsToDelete` named and nothing else. */
  may(action: string, scope: ResourceId): boolean
  readonly id: ResourceId
  readonly query: URLSearchParams
  readonly requested: ResourceId
  readonly resource: Resource<M> | undefined
}

export type StoredVerb = 'get' | 'list' | 'put' | 'patch' | 'delete'

/** Has `location` and `tags`, and appears in generic lists. */
export interface Tracked<M> {
  /**
   * `optional` takes the group's location. `as-given` does so directly in a group; elsewhere the resource has a location,
   * and appears in generic lists, where the body gives one.
   */
  readonly location: 'required' | 'optional' | 'as-given'
  /** What a write with another location meets, where it is not the common code. */
  refuseMove?(resource: Resource<M>, location: string): ApiError
}

/** Two resources with the same key cannot be. */
interface Unique<M> {
  /** Undefined: as many as there may be. */
  key(id: ResourceId, model: M, observed: unknown): string | undefined
  /** What a write of a taken key meets. Default `Conflict`. */
  refuse?(id: ResourceId, existing: ResourceId | undefined): ApiError
}

/** A list that differs from the common one. */
export interface List<M> {
  /** Makes a page of stored resources itself. */
  page?(context: ListContext): Promise<ListPage<Resource<M>>>
  /** Any signed-in caller may list; `page` shows only what the caller may see (`may`). */
  readonly open?: true
  /** Whoever has a role below may list, too; `page` then shows only what they may read (`may`). */
  readonly partly?: true
  /** A group type whose collection cannot be listed by subscription. */
  readonly bySubscription?: false
}

/** How the type's HTTP differs from the common rules. */
export interface Protocol {
  /** What HEAD of one that is there answers. Default 204 (facts 9.3); the API management family says 200. */
  readonly headStatus?: 200
  /** What a PUT that makes one answers. Default 201; 200 where clients know nothing else. */
  readonly createdStatus?: 200
  /** A 201 names the address of what was made (RFC 9110, 15.3.2), where published clients look for it. */
  readonly createdLocation?: true
  /** A PUT may come without a body, which is then an empty object: for types that say all in their name. */
  readonly bodyOptional?: true
  /** Refused without `If-Match`: which verbs (the API management family). */
  readonly ifMatchRequired?: readonly ('put' | 'patch' | 'delete')[]
  /** A PUT with `If-Match: *` makes one that is not there (the API management family). */
  readonly anyMatchCreates?: true
  /** Bodies of PUT and of actions may be JSON as people write it: comments, names without quotes. */
  readonly bodySyntax?: 'relaxed'
}

/** A scope that other resources live in: subscriptions and groups. */
export interface Container<M> {
  /** Creates a missing scope (`ARMATURE_SCOPES=implicit`). */
  createImplicitly?(
    id: ResourceId,
    context: Pick<Context, 'now' | 'principal'>,
  ): { readonly model: M; readonly location?: string }
  /** Throws the refusal where the state of the scope refuses writes below it. */
  allowsChildren?(resource: Resource<M>): void
}

/**
 * One row whatever scope it is requested at. Authorization stays with the path, so rules must see to it that nothing
 * beyond the path's scope is touched.
 */
interface SharedRow {
  idOf(requested: ResourceId): ResourceId
}

export interface RightElsewhere {
  /** Without the vendor word. */
  readonly action: string
  readonly scope: ResourceId
}

export interface Brought {
  /** Of a stored type that has no reconciler, and whose models need no rules of their own. */
  readonly type: string
  readonly items: readonly { readonly name: string; readonly model: unknown }[]
}

/** At most one hook per concern. */
export interface StoredMembers<M> extends EveryType {
  readonly name: NameRule
  readonly versions: readonly Version<M>[]
  /** As `compatibleVersions` of the provider, for a type whose clients send others. */
  readonly compatibleVersions?: readonly string[]
  /** Default: all of them. */
  readonly verbs?: readonly StoredVerb[]
  readonly tracked?: Tracked<M>
  readonly list?: List<M>
  readonly unique?: Unique<M>
  readonly protocol?: Protocol
  readonly container?: Container<M>
  readonly sharedRow?: SharedRow
  /** Is one of this id there with its parent, without being stored? It has no body then, and children may be. */
  isImplied?(id: ResourceId, parent: Resource | undefined): boolean
  /**
   * Its resources may be moved to another group: nothing of them outside the store, and no part of their model, depends on
   * their id. What is below one must be movable too.
   */
  readonly movable?: true | ((resource: Resource<M>) => boolean)
  /** Items beside the stored ones (built-in roles), asked before the store. */
  readonly source?: Source
  /** Changes are appended to this feed of the store, for an index in memory. */
  readonly feed?: string
  readonly actions?: Readonly<Record<string, Action<M>>>
  /**
   * Secrets that it keeps. Required where a body carries values marked `writeOnly`: a write that changes the receiver of
   * one must give it again, and a write that gives one is never answered as changing nothing.
   */
  readonly secrets?: SecretsOfType<M>
  /**
   * Before the transaction of a PUT, after the schema: may ask outside the store and answer a completed body. Throws a
   * refusal. May run although the write then fails.
   */
  prepare?(context: Context & { readonly id: ResourceId }, body: never): Promise<unknown>
  /**
   * `prepare` is given the very body that came, with members that the schema does not name. Else they are left out at its
   * top, where a type puts what is its own.
   */
  readonly preparesUndeclared?: true
  /**
   * Resources below it that a PUT brings along (the operations of a document), in its transaction and in the place of all
   * of that type that are there; undefined where it brings none. The caller must be allowed to write and delete them.
   */
  brings?(body: never): Brought | undefined
  /**
   * Rights on other resources that a PUT or PATCH may take, by its body. They are asked before the transaction; whether they
   * matter, `rules` say, by their `may`.
   */
  rightsElsewhere?(id: ResourceId, body: never, words: VendorWords): readonly RightElsewhere[]
  /** What a schema cannot say. In the transaction, before writing; reads only; all problems at once. */
  rules?(context: RuleContext<M>): Promise<readonly Problem[]> | readonly Problem[]
  /** As `rightsElsewhere`, for a DELETE. Whether they matter, `deleteRules` say. */
  rightsToDelete?(id: ResourceId): readonly RightElsewhere[]
  /**
   * Before deleting, also when nothing is stored (`resource` undefined, 204 unless this throws): throws a refusal where
   * something must not go.
   */
  deleteRules?(context: DeleteRuleContext<M>): Promise<void> | void
  /** What GET of a missing one answers, where it is not the common code. */
  notFound?(id: ResourceId): ApiError
  /**
   * What conditions may know besides name, type, location and tags, by name: `{type}:{name}` in a condition.
   * `body` is the prepared body of a PUT where the model was made of one. Never a secret: whoever writes
   * conditions could guess at it.
   */
  attributes?(model: M, body?: unknown): Readonly<Record<string, AttributeValue | undefined>>
  /** What generic lists show besides the envelope: `kind`, `sku`, `plan`, `identity`, `managedBy`. */
  summary?(model: M): Readonly<Record<string, unknown>>
  /** The type on the wire, where it is not `type` (`Resources/resourceGroups`). */
  readonly wireType?: string
  /** The shape of a whole answer, where the usual envelope does not fit (subscriptions). */
  envelope?(resource: Resource<M>, view: View): object
  /** A body worth PUTting, for the contract suite that every type is put through. */
  readonly sample?: Sample
}

/** A write is done when it is answered. */
export interface StoredType<M = unknown> extends StoredMembers<M> {
  readonly kind: 'stored'
}

/**
 * The model is erased here, once: the plane hands a model only to the type that made it (every row is of one type, and
 * `toModel` and `actions` are the only makers), so `unknown` is safe.
 */
export function defineStored<M>(type: StoredMembers<M>): StoredType {
  return { ...(type as unknown as StoredMembers<unknown>), kind: 'stored' }
}
