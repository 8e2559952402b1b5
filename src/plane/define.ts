/**
 * What a provider says about itself: a resource type is an entry in a table. From these declarations come
 * routing, validation, action names, OpenAPI and the lists of providers and operations; nothing else has
 * to be registered anywhere.
 */

import type { TSchema } from 'typebox'
import type { ApiError, ErrorDetail, ErrorEntry, ErrorFamily, Problem } from '#kernel/error.ts'
import type { Log } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { SystemData } from '#kernel/system-data.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { AttributeValue, Permission } from './access.ts'
import type { SecretsOfType } from './secrets.ts'

/** A stored resource as rules, lists and reconcilers see it. */
export interface Resource<M = unknown> {
  readonly id: ResourceId
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly systemData: SystemData
  /** `provisioningState`; always `Succeeded` for types without a reconciler. */
  readonly state: string
  /** What the user asked for. */
  readonly model: M
  /** What was last seen on the engine; written by the reconciler alone. */
  readonly observed?: unknown
  readonly etag: string
  readonly generation: number
}

/** Reads of committed (or, inside a write, of this transaction's) resources, by any part that may read. */
export interface Reader {
  get(id: ResourceId | string): Promise<Resource | undefined>
  /** Resources of a type (`Authorization/roleAssignments`) at or below a scope, in id order. */
  list(query: {
    readonly type: string
    readonly under: ResourceId | string
    readonly after?: string
    readonly limit: number
  }): Promise<readonly Resource[]>
  /** How many there are, counted up to `limit`. */
  count(query: {
    readonly type: string
    readonly under: ResourceId | string
    readonly limit: number
  }): Promise<number>
}

/** What every part of a type may know of the request it serves. */
export interface Context {
  readonly principal: Principal
  /** Milliseconds; the one moment of this request. */
  readonly now: number
  readonly words: VendorWords
  readonly correlationId: string
  readonly reader: Reader
  /** May the caller do this elsewhere? `action` without the vendor word: `Resources/subscriptions/read`. */
  may(action: string, scope: ResourceId): boolean | Promise<boolean>
}

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
  /**
   * After the schema: the body (valid; unknown properties still in it) to the stored model, defaults
   * filled. `previous` for what a body may leave out and must not lose (secrets). Cannot fail.
   */
  toModel(body: never, previous: M | undefined, context: Context): M
  /** Last, building the answer: `properties` and other members beside the envelope. Never a secret. */
  fromModel(model: M, view: View): Readonly<Record<string, unknown>>
  /**
   * PATCH in this version. `merge` (default): a JSON merge patch on the body as `fromModel` gives it,
   * then as PUT. `tags`: only tags take effect. `none`: 405. Or a schema and a function of its own.
   */
  readonly patch?: 'merge' | 'tags' | 'none' | PatchRule<M>
}

export interface PatchRule<M> {
  readonly body: TSchema
  apply(body: never, previous: M, context: Context): M
}

/** What `fromModel` may show besides the model. */
export interface View
  extends Pick<Resource, 'id' | 'systemData' | 'state' | 'observed' | 'location' | 'tags'> {
  readonly words: VendorWords
}

/** What a name may look like. `code` replaces `InvalidResourceName`. */
export interface NameRule {
  readonly pattern: RegExp
  /** The rule in words: `1 to 90 letters, digits, …`. */
  readonly rule: string
  readonly refuse?: (name: string) => ApiError
}

export interface RuleContext<M> extends Context {
  readonly id: ResourceId
  /** The id as the path has it: `id`, but for types with `storedAt`. */
  readonly requested: ResourceId
  readonly desired: M
  readonly previous: M | undefined
  readonly location: string | undefined
  readonly tags: Readonly<Record<string, string>> | undefined
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

export interface GetContext extends Context {
  readonly id: ResourceId
  /** The id as the path has it: `id`, but for types with `storedAt`. */
  readonly requested: ResourceId
  readonly query: URLSearchParams
}

/** A type whose items are computed, not stored. Items are whole wire objects. */
export interface Source {
  get?(context: GetContext): Promise<object | undefined>
  list?(context: ListContext): Promise<ListPage<object>>
  /** What of a computed item may be changed. The item as it is then, or undefined where there is none (404). */
  readonly patch?: {
    readonly body: TSchema
    apply(context: GetContext, body: never): Promise<object | undefined>
  }
}

/** What an action may answer. `model` writes intent; with a reconciler that opens an operation. */
export interface ActionOutcome<M> {
  /** 200 with a body, 202 (operation), 204, as the contract or the facts have it. */
  readonly status: number
  readonly body?: object | string | AsyncIterable<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
  /** Intent to store. The action names what to do; the reconciler does it. */
  readonly model?: M
  /** A list goes on here: the action's own cursor, signed by the plane; `nextLink` is put into the body. */
  readonly next?: string
}

export interface ActionContext<M> extends Context {
  readonly id: ResourceId
  /** Undefined for actions on virtual types and collections. */
  readonly resource: Resource<M> | undefined
  readonly query: URLSearchParams
  readonly version: string
  /** The `next` of the answer that is continued; actions that list go on there. */
  readonly cursor: string | undefined
  /** Items of one page, by `$top` and the limits. */
  readonly pageSize: number
  /** Asked again by what goes on after the answer; undefined for requests of the installation itself. */
  readonly permission: Permission | undefined
}

/** A POST (or GET) below a resource, or on a collection word that is no type. */
export interface Action<M> {
  readonly method: 'POST' | 'GET'
  readonly description: string
  /** What follows the type in the action name; `{name}/action` for POST and `{name}/read` for GET. */
  readonly permission?: string
  /** Any signed-in caller may ask; the action itself says no where it must (`may`). Reads only. */
  readonly open?: boolean
  /** Counted as a read by throttling; facts 9.6 has list-style POSTs so. Such a one leaves no record. */
  readonly countsAsRead?: boolean
  /** Its answer holds a secret: the audit trail has a record of it before it is given, however it is counted. */
  readonly revealsSecret?: true
  readonly body?: TSchema
  readonly bodyOptional?: boolean
  readonly answer?: TSchema
  /** Inside a transaction when `writes`: then it reads only, and `model` is what is written. */
  readonly writes?: boolean
  /** Of one that writes: also while an operation runs, which goes on and sees the new intent. */
  readonly whileRunning?: boolean
  /** Of one that only reads: also where nothing is stored at the path; `resource` is then undefined. */
  readonly unstored?: boolean
  run(context: ActionContext<M>, body: never): Promise<ActionOutcome<M>>
}

/** The reconciler's view of one resource. Deleting is not special: `desired` is nothing. */
export interface Subject<M, O> {
  readonly id: ResourceId
  readonly desired: M | undefined
  /** The model as stored, also while deleting: names of what has to go. */
  readonly model: M
  readonly location: string | undefined
  readonly tags: Readonly<Record<string, string>> | undefined
  /** What was last recorded. */
  readonly last: O | undefined
  readonly generation: number
  /** Stable, opaque, fit for an engine's names: derived from the id, the same for the resource's life. */
  readonly token: string
  readonly state: string
  readonly now: number
  readonly log: Log
}

export type Next<S, O> =
  /** Perform this step, record `observed`, look again. */
  | { readonly kind: 'step'; readonly step: S; readonly state?: string }
  /** Nothing to do until later: the engine works. */
  | {
      readonly kind: 'wait'
      readonly seconds: number
      readonly state?: string
      readonly observed?: O
    }
  /** Desired is reached. With `resyncSeconds` it is looked at again. */
  | { readonly kind: 'done'; readonly observed?: O }
  /** It can never be reached: the operation fails with this error. */
  | {
      readonly kind: 'fail'
      readonly code: string
      readonly message: string
      /** Several reasons, for the operation's error. */
      readonly details?: readonly ErrorDetail[]
      /** `Canceled`: the user called it off. Default `Failed`. */
      readonly status?: 'Failed' | 'Canceled'
      readonly observed?: O
    }

/** `observe` asks the engine, `next` is pure, `perform` does one idempotent step. All may run again. */
export interface Reconciler<M, O = unknown, S = unknown> {
  readonly deadlineSeconds: number
  readonly retryAfterSeconds: number
  /** Look again this long after `done`: drift shows without a request. */
  readonly resyncSeconds?: number
  /** The non-terminal states, as shown while creating, updating, deleting. */
  readonly states: {
    readonly creating: string
    readonly updating: string
    readonly deleting: string
  }
  /**
   * Its work is no operation: PUT, PATCH and DELETE answer at once, the state stays `Succeeded`, and what is recorded
   * of it changes no tag. There is no deadline then, and `next` does not fail: it shows in what is observed.
   */
  readonly background?: Background<M>
  observe(subject: Subject<M, O>): Promise<O>
  next(subject: Subject<M, O>, observed: O): Next<S, O>
  perform(subject: Subject<M, O>, step: S): Promise<void>
  /** Calls back with ids worth a look now (an engine's event). A hint. */
  hints?(wake: (key: string) => void, signal: AbortSignal): void
}

export interface Background<M> {
  /** What a DELETE stores instead: the order to end. Undefined where nothing is under way; then the resource goes. */
  endInstead?(resource: Resource<M>): M | undefined
}

/** Thrown by `observe` and `perform` for the world's failures. `never` fails the operation at once. */
export class StepFailure extends Error {
  readonly retry: 'later' | 'never'
  readonly code: string
  constructor(retry: 'later' | 'never', code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StepFailure'
    this.retry = retry
    this.code = code
  }
}

export type StoredVerb = 'get' | 'list' | 'put' | 'patch' | 'delete'

/** A resource type: one entry of the table. At most one hook per concern. */
export interface ResourceType<M = unknown> {
  /** Without the vendor word: `Authorization/roleAssignments`, `DataShare/accounts/shares`. */
  readonly type: string
  readonly description: string
  /**
   * Where it lives: below the root (`/providers/…`), a subscription, a group, or on anything (`any`,
   * extension resources). Nested types live below their parent and repeat its scope. `implied` is for
   * the two types whose paths carry no `providers`.
   */
  readonly scope: 'tenant' | 'subscription' | 'resource-group' | 'any' | 'implied'
  /** Further scopes whose collection may be listed: a group type also lists by subscription. Default true. */
  readonly listBySubscription?: boolean
  /** Has `location` and `tags`, appears in generic lists. */
  readonly tracked: boolean
  /** For tracked types: `optional` takes the group's location. Default `required`. */
  readonly location?: 'required' | 'optional'
  readonly name: NameRule
  /** Shapes, for stored types. */
  readonly versions: readonly Version<M>[]
  /** For types without shapes of their own (computed or only actions): the versions they answer in. */
  readonly apiVersions?: readonly string[] | 'any'
  /** As `alikeVersions` of the provider, for a type whose clients send others. */
  readonly alikeVersions?: readonly string[]
  /** Default: all of them for stored types, none for types with a `source`. */
  readonly verbs?: readonly StoredVerb[]
  /** What HEAD of one that is there answers. Default 204 (facts 9.3); the API management family says 200. */
  readonly headStatus?: 200 | 204
  /** Refused without `If-Match`: which verbs (the API management family). */
  readonly ifMatchRequired?: readonly ('put' | 'patch' | 'delete')[]
  /**
   * Secrets that it keeps. Required where a body carries values marked `writeOnly`: a write that changes the receiver of
   * one must give it again, and a write that gives one is never answered as changing nothing.
   */
  readonly secrets?: SecretsOfType<M>
  /** What a schema cannot say. In the transaction, before writing; reads only; all problems at once. */
  rules?(context: RuleContext<M>): Promise<readonly Problem[]> | readonly Problem[]
  /**
   * Before deleting, also when nothing is stored (`resource` undefined, 204 unless this throws): throws a
   * refusal where something must not go.
   */
  deleteRules?(
    context: Context & {
      readonly id: ResourceId
      readonly requested: ResourceId
      readonly resource: Resource<M> | undefined
    },
  ): Promise<void> | void
  /** Bodies of PUT and of actions may be JSON as people write it: comments, names without quotes. Default `strict`. */
  readonly bodySyntax?: 'relaxed'
  /**
   * Ahead of the transaction of a PUT, after the schema: may ask outside the store and answer a completed
   * body. Throws a refusal. May run although the write then fails.
   */
  prepare?(context: Context & { readonly id: ResourceId }, body: never): Promise<unknown>
  /**
   * One row whatever scope it is asked at: where the row of a path is. Authorization stays with the path,
   * so rules must see to it that nothing beyond the path's scope is touched.
   */
  storedAt?(id: ResourceId): ResourceId
  /** Two rows with the same key cannot be: taken → `uniqueRefusal`. Undefined: as many as there may be. */
  uniqueKey?(id: ResourceId, model: M, observed: unknown): string | undefined
  uniqueRefusal?(id: ResourceId, existing: ResourceId | undefined): ApiError
  /** Its presence is what makes PUT and DELETE long-running, unless it works in the background. */
  readonly reconcile?: Reconciler<M>
  readonly actions?: Readonly<Record<string, Action<M>>>
  /** A path word below a scope that is an action and no collection (`checkAccess`). */
  readonly collectionActions?: { readonly POST?: Action<M>; readonly GET?: Action<M> }
  /** Items that are not stored (`locations`, built-in roles), asked before the store. */
  readonly source?: Source
  /** Any signed-in caller may list; the list itself shows only what the caller may see (`may`). */
  readonly openList?: boolean
  /** A list of its own making, over stored rows. */
  list?(context: ListContext): Promise<ListPage<Resource<M>>>
  /** Changes are appended to this feed of the store, for an index in memory. */
  readonly feed?: string
  /** The type in action names, where it is not `type` (`Resources/subscriptions/resourceGroups`). */
  readonly permission?: string
  /** The type on the wire, where it is not `type` (`Resources/resourceGroups`). */
  readonly wireType?: string
  /** Brings a missing scope into being (`ARMATURE_SCOPES=implicit`): subscriptions and groups only. */
  implicit?(
    id: ResourceId,
    context: Pick<Context, 'now' | 'principal'>,
  ): { readonly model: M; readonly location?: string }
  /** A parent whose state refuses writes below it: throws the refusal. */
  allowsChildren?(resource: Resource<M>): void
  /** The shape of a whole answer, where the usual envelope does not fit (subscriptions). */
  envelope?(resource: Resource<M>, view: View): object
  /** What GET of a missing one answers, where it is not the common code. */
  notFound?(id: ResourceId): ApiError
  /** What a write with another location meets, where it is not the common code. */
  locationRefusal?(resource: Resource<M>, location: string): ApiError
  /** What a write meets while an operation runs, where it is not the common code. */
  busy?(resource: Resource<M>): ApiError
  /**
   * What conditions may know besides name, type, location and tags, by name: `{type}:{name}` in a condition.
   * `body` is the prepared body of a PUT where the model was made of one. Never a secret: whoever writes
   * conditions could guess at it.
   */
  attributes?(model: M, body?: unknown): Readonly<Record<string, AttributeValue | undefined>>
  /** What generic lists show besides the envelope: `kind`, `sku`, `plan`, `identity`, `managedBy`. */
  summary?(model: M): Readonly<Record<string, unknown>>
  /** A body worth PUTting, for the contract suite that every type is put through. */
  readonly sample?: Sample
}

/** How the resource contract suite makes valid resources of a type. */
export interface Sample {
  name(seed: number): string
  /** A valid PUT body per version. */
  body(seed: number, version: string): object
  /** A body that is valid and differs from `body(seed)`; updates are tried with it. */
  changed(seed: number, version: string): object
  /** Of one parent there is one at a time: that pages joined are the list is its provider's to test. */
  readonly isAlone?: true
  /** Strings that must never come back in an answer. */
  readonly secrets?: readonly string[]
  /** Of a type that keeps secrets for a receiver: merge patches of `body(seed)`, each of which changes the receiver. */
  readonly redirects?: readonly object[]
}

export interface Provider {
  /** Without the vendor word: `Authorization`. */
  readonly namespace: string
  readonly description: string
  /** Default: `resource-manager`. */
  readonly errorFamily?: ErrorFamily
  /** The provider's own refusals, for the reference. */
  readonly errors?: Readonly<Record<string, ErrorEntry>>
  /** The refusal of a body with these problems (one or more), where the namespace has a code of its own for it. */
  refuseProblems?(problems: readonly Problem[]): ApiError
  readonly types: readonly ResourceType[]
  /**
   * Versions that published clients send and that have no shape of their own here: each is served in the shape that
   * was in force on its day (`nearestApiVersion`).
   */
  readonly alikeVersions?: readonly string[]
  /**
   * Work of its own beside the reconciler (meters, schedules, sweeps): begun once the installation serves, ended
   * by disposal, which waits for what is under way. Every replica begins it: what may run once only takes a lease.
   */
  start?(): AsyncDisposable
}

/**
 * Declares a type. The model is erased here, once: the plane hands a model only to the type that made it
 * (every row is of one type, and `toModel` and `actions` are the only makers), so `unknown` is safe.
 */
export function defineResource<M>(type: ResourceType<M>): ResourceType {
  return type as unknown as ResourceType
}

/** Do its writes open operations? */
export function isLongRunning({ reconcile }: Pick<ResourceType, 'reconcile'>): boolean {
  return reconcile !== undefined && reconcile.background === undefined
}

/** Declares a reconciler; what it observes and the steps it takes are its own, erased likewise. */
export function defineReconciler<M, O, S>(reconciler: Reconciler<M, O, S>): Reconciler<M> {
  return reconciler as unknown as Reconciler<M>
}

/** Declares a provider: the identity function, so that declarations read alike. */
export function defineProvider(provider: Provider): Provider {
  return provider
}
