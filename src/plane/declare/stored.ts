/** Types whose resources are stored. What only some types can do is a capability, in an object of its own. */

import type { ApiError, Problem } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { AttributeValue, DataUse } from '../access.ts'
import type { SecretsOfType } from '../secrets.ts'
import type { Action } from './action.ts'
import type { Source } from './computed.ts'
import type { EveryType } from './every-type.ts'
import type { Context, InsideContext, Resource } from './resource.ts'
import type { Sample } from './sample.ts'
import type { ListContext, ListPage, NameRule, Version, View } from './wire.ts'

export interface RuleContext<M> extends InsideContext {
  /** Answers only for rights that `rightsElsewhere` named: inside a transaction no other right can be checked. */
  may(action: string | DataUse, scope: ResourceId): boolean
  readonly id: ResourceId
  /** The id as in the path. It differs from `id` only for types with a `sharedRow`. */
  readonly requested: ResourceId
  readonly desired: M
  readonly previous: M | undefined
  readonly location: string | undefined
  readonly tags: Readonly<Record<string, string>> | undefined
}

export interface DeletionContext extends InsideContext {
  readonly id: ResourceId
  readonly query: URLSearchParams
}

export interface DeleteRuleContext<M> extends DeletionContext {
  /** Answers only for rights that `rightsToDelete` named. */
  may(action: string | DataUse, scope: ResourceId): boolean
  readonly requested: ResourceId
  readonly resource: Resource<M> | undefined
}

export type StoredVerb = 'get' | 'list' | 'put' | 'patch' | 'delete'

/** Has `location` and `tags`, and appears in generic lists. */
export interface Tracked<M> {
  /**
   * `optional` defaults to the group's location. `as-given` does so directly in a group; elsewhere the resource has a
   * location, and appears in generic lists, only if the body gives one.
   */
  readonly location: 'required' | 'optional' | 'as-given'
  /** The refusal of a write with another location, where it is not the common one. */
  refuseMove?(resource: Resource<M>, location: string): ApiError
}

/**
 * Other resources that go before one that is deleted, with all that is below them. Their types have no reconcilers. Locks on
 * them and deny assignments are looked at by the plane.
 */
export interface DeletedAlong<M> {
  /** All of them, however many. It runs outside of transactions, and may pause. */
  find(context: DeletionContext): AsyncIterable<ResourceId>
  /** Whether one that was found before still goes. */
  isOne(context: DeletionContext, found: Resource): boolean
  /** Runs in the transaction, before any of them goes: refuses a caller who may not delete them. */
  rules?(context: DeleteRuleContext<M>): void
  /**
   * Whether there are some that were not found, in the transaction in which the resource itself is to go. It reads no more
   * than a few rows. Without it, such ones stay.
   */
  isAnyLeft?(context: DeletionContext): Promise<boolean>
}

/** No two resources may have the same key. */
interface Unique<M> {
  /** Undefined: the resource takes no key. */
  key(id: ResourceId, model: M, observed: unknown): string | undefined
  /** The key holds that of the parent: no resource but a sibling of the same type can have the same. */
  readonly isUniqueBelow?: true
  /** The refusal of a write of a taken key. Default `Conflict`. */
  refuse?(id: ResourceId, existing: ResourceId | undefined): ApiError
}

/** A list that differs from the common one. */
export interface List<M> {
  /** Builds a page of stored resources itself. */
  page?(context: ListContext): Promise<ListPage<Resource<M>>>
  /** Any signed-in caller may list; `page` shows only what the caller may see (`may`). */
  readonly open?: true
  /**
   * A caller with a role at something below the scope may list, too; `page` then shows only what they may read
   * (`may`).
   */
  readonly partly?: true
  /** A group type whose collection cannot be listed by subscription. */
  readonly bySubscription?: false
}

/** How a write answers, where that differs from the common rules (decision 0160). */
export interface WriteAnswer {
  /** Default: 201 for a resource that was created, 200 for others. */
  readonly status?: 200 | 201 | 202
  /**
   * `resource`: `Location` is the address of the new resource (RFC 9110, 15.3.2). `operation`: always to an operation.
   * Where the answer ends the work, the operation has ended, too.
   */
  readonly leadsTo?: 'resource' | 'operation'
  /** What is answered in place of the resource: nothing, or the name of the operation and when it began. */
  readonly body?: 'none' | { readonly operation: string }
  /**
   * Clients of the type expect no work in the background, which usually ends at once. So the request waits for it for a
   * while. If it takes longer, or no worker runs, the answer is that of work that goes on.
   */
  readonly isAwaited?: true
}

export interface WriteAnswers {
  readonly created?: WriteAnswer
  /** Of a PUT or PATCH of an existing resource, also when it changes nothing. */
  readonly changed?: WriteAnswer
  /** Of the deletion of an existing resource. */
  readonly deleted?: WriteAnswer
}

/** How the type's HTTP differs from the common rules. */
export interface Protocol {
  /** The status of HEAD for an existing resource. Default 204 (facts 9.3); the API management family answers 200. */
  readonly headStatus?: 200
  readonly answers?: WriteAnswers
  /** A PUT may come without a body, which then counts as an empty object: for types whose name says everything. */
  readonly bodyOptional?: true
  /** The verbs that are refused without `If-Match` (the API management family). */
  readonly ifMatchRequired?: readonly ('put' | 'patch' | 'delete')[]
  /** A PUT with `If-Match: *` creates a missing resource (the API management family). */
  readonly anyMatchCreates?: true
  /**
   * Bodies of PUT and of actions keep integers of 64 bits (`exact`), or may also be relaxed JSON: with comments, and
   * names without quotes.
   */
  readonly bodySyntax?: 'exact' | 'relaxed'
}

/** A scope that contains other resources: subscriptions and groups. */
export interface Container<M> {
  /** Creates a missing scope (`ARMATURE_SCOPES=implicit`). */
  createImplicitly?(
    id: ResourceId,
    context: Pick<Context, 'now' | 'principal'>,
  ): { readonly model: M; readonly location?: string }
  /** Throws the refusal where the state of the scope forbids writes below it. */
  allowsChildren?(resource: Resource<M>): void
}

/**
 * One row, whatever scope it is requested at. Authorization uses the scope of the path, so rules must ensure that
 * nothing outside it is touched.
 */
interface SharedRow {
  idOf(requested: ResourceId): ResourceId
}

export interface RightElsewhere {
  /** As `may` of a `Context` takes it. */
  readonly action: string | DataUse
  readonly scope: ResourceId
}

export interface DeclaredChildren {
  /** A stored type without a reconciler, whose models need no rules of their own. */
  readonly type: string
  readonly items: readonly { readonly name: string; readonly model: unknown }[]
}

/** At most one hook per concern. */
export interface StoredMembers<M> extends EveryType {
  readonly name: NameRule
  readonly versions: readonly Version<M>[]
  /** Like `compatibleVersions` of the provider, for a type whose clients send other versions. */
  readonly compatibleVersions?: readonly string[]
  /** Default: all of them. */
  readonly verbs?: readonly StoredVerb[]
  readonly tracked?: Tracked<M>
  /**
   * Tags, in small letters, that say how the resource is worked on. The right to tags is not enough to change them: it takes
   * the right to write the resource.
   */
  readonly settingTags?: readonly string[]
  readonly list?: List<M>
  readonly unique?: Unique<M>
  readonly protocol?: Protocol
  readonly container?: Container<M>
  readonly sharedRow?: SharedRow
  /**
   * Whether a resource of this id exists with its parent without being stored. It has no body, and may have children.
   */
  isImplied?(id: ResourceId, parent: Resource | undefined): boolean
  /**
   * Its resources may be moved to another group: nothing outside the store and nothing in their model depends on
   * their id. Their children must be movable too.
   */
  readonly movable?: true | ((resource: Resource<M>) => boolean)
  /**
   * The model after a move: others name the resource by its new id, and remember what they found there. At `now` it is new to
   * them.
   */
  moved?(model: M, now: number): M
  /** Items that are not stored, such as built-in roles. Asked before the store. */
  readonly source?: Source
  /** Changes are appended to this feed of the store, for an index in memory. */
  readonly feed?: string
  readonly actions?: Readonly<Record<string, Action<M>>>
  /**
   * The secrets that it keeps. Required where bodies have values marked `writeOnly`: a write that changes the
   * receiver of a secret must give it again, and a write that gives a secret is never answered as unchanged.
   */
  readonly secrets?: SecretsOfType<M>
  /**
   * Runs after the schema check and before the transaction of a PUT. It may ask systems outside the store, and
   * returns the completed body. Throws a refusal. It may run although the write fails later.
   */
  prepare?(context: Context & { readonly id: ResourceId }, body: never): Promise<unknown>
  /**
   * `prepare` gets the body as it came, with members that the schema does not name. Otherwise such members are
   * removed at the top level, where a type puts what it adds itself.
   */
  readonly preparesUndeclared?: true
  /**
   * Resources below it that a PUT creates in its own transaction, such as the operations of an imported document.
   * They replace all resources of that type below it; undefined leaves those as they are. The caller must be allowed
   * to write and delete them.
   */
  declaredChildren?(body: never): DeclaredChildren | undefined
  /**
   * Members of `properties` that only the answer of a PUT shows, and only to a caller from outside: what the
   * installation sends itself could be recorded. They may be secrets, so the PUT leaves a record even if it changed
   * nothing; a secret of the body itself is not repeated. Runs after the transaction.
   */
  onlyPutShows?(
    context: Context & { readonly id: ResourceId; readonly body: object },
  ): Promise<object>
  /**
   * Rights on other resources that a PUT or PATCH of this body may need. They are checked before the transaction;
   * `rules` decides, through its `may`, whether one was needed.
   */
  rightsElsewhere?(id: ResourceId, body: never, words: VendorWords): readonly RightElsewhere[]
  /**
   * Checks what a schema cannot. Runs in the transaction, before the write. Reads only; reports all problems at once.
   */
  rules?(context: RuleContext<M>): Promise<readonly Problem[]> | readonly Problem[]
  /** Like `rightsElsewhere`, for a DELETE. `deleteRules` decides whether one was needed. */
  rightsToDelete?(id: ResourceId): readonly RightElsewhere[]
  /**
   * Rights that whoever deletes `scope`, which is above it, needs for what the resource holds elsewhere, since that ends with
   * it. `deleteRules` are not asked then.
   */
  rightsToDeleteAbove?(resource: Resource<M>, scope: ResourceId): readonly RightElsewhere[]
  /**
   * Runs before a DELETE, also when nothing is stored (`resource` is then undefined, and the answer 204 unless this
   * throws). Throws a refusal where something must stay.
   */
  deleteRules?(context: DeleteRuleContext<M>): Promise<void> | void
  /**
   * The refusal of a DELETE of what others use, where finding that out reads much: it is looked for before the transaction, and
   * given behind `deleteRules`. What comes to use it meanwhile is not seen.
   */
  usedBy?(context: DeletionContext): Promise<ApiError | undefined>
  readonly deletedAlong?: DeletedAlong<M>
  /** The refusal of a GET of a missing resource, where it is not the common one. */
  notFound?(id: ResourceId): ApiError
  /**
   * Attributes for conditions besides name, type, location and tags, by name: `{type}:{name}` in a condition. `body`
   * is the prepared body of a PUT, where the model was made from one. Never a secret, since writers of conditions
   * could guess it.
   */
  attributes?(model: M, body?: unknown): Readonly<Record<string, AttributeValue | undefined>>
  /** Members that generic lists show besides the envelope: `kind`, `sku`, `plan`, `identity`, `managedBy`. */
  summary?(model: M): Readonly<Record<string, unknown>>
  /** The type on the wire, where it is not `type` (`Resources/resourceGroups`). */
  readonly wireType?: string
  /** Builds the whole answer, where the usual envelope does not fit (subscriptions). */
  envelope?(resource: Resource<M>, view: View): object
  /** Bodies for the resource contract suite. */
  readonly sample?: Sample
}

/** A type whose writes are complete when they are answered. */
export interface StoredType<M = unknown> extends StoredMembers<M> {
  readonly kind: 'stored'
}

/**
 * The model's type is erased here, once. This is safe because the plane gives a model only to the type that made it:
 * every row has one type, and only its `toModel` and `actions` make models.
 */
export function defineStored<M>(type: StoredMembers<M>): StoredType {
  return { ...(type as unknown as StoredMembers<unknown>), kind: 'stored' }
}
