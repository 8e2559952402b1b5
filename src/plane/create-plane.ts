/** Puts the plane together: the table, the verbs and the reconciler over one store. */

import { randomBytes } from 'node:crypto'
import { ApiError, refuse } from '#kernel/error.ts'
import type { Limits } from '#kernel/limits.ts'
import type { Clock, Ids, Log, Timers } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { type ResourceId, subscriptionIdOf, subscriptionOf } from '#kernel/resource-id.ts'
import { createRoom, inRoom } from '#kernel/room.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Store } from '#stores/store.ts'
import {
  type Access,
  type Attributes,
  type AttributeValue,
  allowsWithoutAttributes,
  asKnown,
  type ConditionalGrant,
  type DataUse,
  hasRoleBelow,
  noAttributes,
  requestedOf,
  type Verdict,
} from './access.ts'
import { attributesOf, describedRow } from './attributes.ts'
import { bodyAsRecorded, installationPrincipal, type SentBody, systemInitiator } from './audit.ts'
import { inNameOf } from './behalf-of.ts'
import { type Caller, createCaller } from './caller.ts'
import type { Provider } from './declare/provider.ts'
import type { Reader, Resource } from './declare/resource.ts'
import { type BackgroundFaults, createReader, type PlaneDependencies } from './dependencies.ts'
import { type ActionDescription, describe, describeActions } from './describe.ts'
import { authorizationFailed, GrantDenied, refusalOf } from './grant.ts'
import type { Guard } from './guard.ts'
import { familyOfPath, type LocatedRoute, locate, methodsOf } from './locate.ts'
import { runOperation } from './operations.ts'
import type { Outcome, Plane, RunInput, StillAllowed } from './plane.ts'
import { createReconciler, type ReconcilerLoop } from './reconcile/claim.ts'
import { createRegistry, type Registry, type VersionRule } from './registry.ts'
import { runAction } from './verbs/action.ts'
import { emptyScope, runDelete } from './verbs/delete.ts'
import { type MoveRequest, moveResources } from './verbs/move.ts'
import { runPatch } from './verbs/patch.ts'
import { runPut } from './verbs/put.ts'
import { listTracked, runGet, runList, type TrackedPage } from './verbs/read.ts'
import type { RemovalProgress } from './verbs/remove-below.ts'
import { replaceTags, type TagsChange } from './verbs/replace-tags.ts'
import { storeAsSystem } from './verbs/store-as-system.ts'
import { updateAsSystem } from './verbs/update-as-system.ts'
import { writeComputed } from './verbs/write-computed.ts'

export interface PlaneOptions {
  /** A function, since providers are declared before the services exist. */
  readonly providers: (services: PlaneServices) => readonly Provider[]
  readonly store: Store
  readonly access: Access
  /**
   * Whether a principal that was authenticated earlier may still act. Called before later work in somebody's name,
   * such as a deployment. Default: always.
   */
  readonly isActive?: (principal: Principal) => Promise<boolean>
  readonly words: VendorWords
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly limits: Limits
  readonly tokenKeys: () => readonly Uint8Array[]
  readonly scopes: 'implicit' | 'declared'
  /** Default `known`. */
  readonly apiVersions?: VersionRule
  readonly timers: Timers
  readonly faults?: BackgroundFaults | undefined
  readonly heap?: PlaneDependencies['heap']
  /** Guards may refuse a change although the caller may make it. Each is given what providers are given. */
  readonly guards?: readonly Guard[]
  /** Called after a request was refused for a missing permission. Must not throw; nobody waits for it. */
  readonly onDenied?: (denied: Denied) => void
}

export interface Denied {
  readonly correlationId: string
  readonly principalId: string
  readonly action: string
  readonly scope: string
  /** The attributes that the body asked for, where a condition depended on them. */
  readonly request?: Readonly<Record<string, AttributeValue>>
}

/**
 * What a provider may do through the plane beyond its context, such as read other resources by id, as any client
 * would.
 */
export interface PlaneServices {
  describe(): ReturnType<Plane['describe']>
  /** All actions and data actions, for authors of roles. */
  describeActions(): readonly ActionDescription[]
  readonly reader: Reader
  listTracked(query: {
    readonly under: ResourceId
    readonly after?: string
    readonly limit: number
    /** Only this type, where a provider declares it; the caller looks at the type of each row all the same. */
    readonly wireType?: string
  }): Promise<TrackedPage>
  /** Removes what is below a scope, a bounded number of resources at a time. */
  emptyScope(id: ResourceId): Promise<RemovalProgress>
  /** Attributes of a stored resource for conditions; empty where nothing is stored. */
  attributesOf(id: ResourceId): Promise<Attributes>
  /** PUTs, in the installation's name, a resource that must exist from the start. An existing one stays as it is. */
  seed(path: string, version: string, body: object): Promise<void>
  /**
   * Changes a stored resource in the installation's name; `change` returns the new model. Resolves to whether
   * anything was written.
   */
  updateAsSystem(id: ResourceId | string, change: (resource: Resource) => unknown): Promise<boolean>
  /**
   * Writes, in the installation's name, a resource that requests may not write (a deny assignment). `body` is a whole
   * body of that version and is checked like any other. Undefined removes the resource.
   */
  storeAsSystem(id: ResourceId | string, version: string, body: object | undefined): Promise<void>
  /** Moves resources to another group in a caller's name and checks the caller's rights; moves all of them or none. */
  moveResources(
    request: MoveRequest,
    caller: Pick<RunInput, 'principal' | 'correlationId' | 'from'>,
  ): Promise<void>
  /**
   * Changes the tags of a stored resource in a caller's name. The caller's right to write tags was checked before.
   * Locks, deny assignments and conditions on the resource apply as for any PATCH.
   * Resolves to the tags as written.
   */
  replaceTags(
    id: ResourceId,
    change: TagsChange,
    caller: Pick<RunInput, 'principal' | 'correlationId' | 'from' | 'signal'>,
  ): Promise<Readonly<Record<string, string>>>
  /**
   * Whether a principal that was authenticated earlier may do this now. `action` has no vendor word. False for one
   * that was disabled, deleted or revoked since.
   */
  isAllowed(principal: Principal, action: string | DataUse, scope: ResourceId): Promise<boolean>
  /** The body of a PUT as it may be recorded: only members that its answer shows as well. */
  asRecorded(request: SentBody): object
  /** Makes internal requests of a principal. They behave as if they had come over HTTP. */
  readonly caller: Caller
  /** Calls back with the key of each resource whose background work ended in this process. A call may be missed. */
  onSettled(callback: (key: string) => void, signal: AbortSignal): void
}

export interface RunningPlane extends Plane, AsyncDisposable {
  readonly registry: Registry
  readonly reader: Reader
  /** The services that providers are given, for pages and the like that belong to a provider. */
  readonly services: PlaneServices
  readonly reconciler: ReconcilerLoop
  /** Starts the background work: the reconciler and what providers do by themselves. */
  start(): void
  /** Called after the store was replaced by another state: everything remembered from it is dropped. */
  forget(): Promise<void>
}

/** For what is not made yet: each read asks for it. */
function readerOf(deps: () => PlaneDependencies): Reader {
  const reader = (): Reader => createReader(deps(), deps().store)
  return {
    get: (id) => reader().get(id),
    list: (query) => reader().list(query),
    each: (query) => reader().each(query),
    page: (query) => reader().page(query),
    byUniqueKey: (query) => reader().byUniqueKey(query),
    hasRoom: (query) => reader().hasRoom(query),
    feedPosition: (feed) => reader().feedPosition(feed),
    count: (query) => reader().count(query),
  }
}

export function createPlane(options: PlaneOptions): RunningPlane {
  // The parts below do not exist yet. Providers call no service while they are declared.
  const services: PlaneServices = {
    describe: () => describe(deps.registry),
    describeActions: () => describeActions(deps.registry),
    reader: readerOf(() => deps),
    listTracked: (query) => listTracked(deps, query),
    emptyScope: (id) => emptyScope(deps, id, systemInitiator),
    attributesOf: (id) => storedAttributes(deps, id),
    seed: (path, version, body) => seed(deps, path, version, body),
    updateAsSystem: (id, change) => updateAsSystem(deps, id, change),
    storeAsSystem: (id, version, body) => storeAsSystem(deps, id, version, body),
    moveResources: (request, by) => moveResources(deps, request, by),
    asRecorded: (request) => bodyAsRecorded(deps, request),
    replaceTags(id, change, by) {
      const replace = () => replaceTags(deps, id, change, by)
      return inRoom(oneByOne, id.key, replace, () => by.signal)
    },
    isAllowed: async (principal, action, scope) =>
      (await isActive(principal)) &&
      allowsWithoutAttributes(
        deps.access,
        { principal, ...requestedOf(deps.registry.words, action), scope },
        deps.clock.now(),
      ),
    caller: {
      // Otherwise what a deployment sends would go before what others wait for.
      call: (request) => inNameOf(request.principal.id, () => caller.call(request)),
      dryRun: (requests, principal, correlationId, options) =>
        caller.dryRun(requests, principal, correlationId, options),
    },
    onSettled(callback, signal) {
      if (signal.aborted) return
      settled.add(callback)
      signal.addEventListener('abort', () => settled.delete(callback), { once: true })
    },
  }
  const settled = new Set<(key: string) => void>()
  // Tags are made of what is there: two who write them at once would begin again by turns.
  const oneByOne = createRoom({ perOwnerMax: 1, sumMax: Number.POSITIVE_INFINITY })
  const declared = options.providers(services)
  const registry = createRegistry(declared, options.words, options.apiVersions)
  const deps: PlaneDependencies = {
    registry,
    store: options.store,
    access: options.access,
    clock: options.clock,
    timers: options.timers,
    ids: options.ids,
    log: options.log,
    limits: options.limits,
    tokenKeys: options.tokenKeys,
    scopes: options.scopes,
    wireCache: new WeakMap(),
    guards: options.guards ?? [],
    ...(options.faults === undefined ? {} : { faults: options.faults }),
    ...(options.heap === undefined ? {} : { heap: options.heap }),
    wake: () => reconciler.wake(),
    settled: (key) => {
      for (const callback of settled) callback(key)
    },
  }
  const isActive = options.isActive ?? (async () => true)
  const caller = createCaller(deps, {
    authorize: async (route, principal) => {
      if (!(await isActive(principal))) throw authorizationFailed(route, principal)
      return authorize(deps, route, principal)
    },
    dispatch: (route, input) => dispatch(deps, route, input),
  })
  const owner = randomBytes(12).toString('hex')
  const ownWork = new AsyncDisposableStack()
  const reconciler = createReconciler(deps, owner, options.timers)
  return {
    registry,
    reader: services.reader,
    services,
    reconciler,
    start() {
      reconciler.start()
      for (const provider of declared) {
        if (provider.start !== undefined) ownWork.use(provider.start())
      }
    },
    async forget() {
      for (const { reconcile } of registry.types) reconcile?.forget?.()
      for (const provider of declared) await provider.forget?.()
      reconciler.wake()
    },
    locate: (method, path, query) => locate(registry, method, path, query),
    methodsOf: (path, query) => methodsOf(registry, path, query),
    authorize(route, principal, correlationId, refreshed) {
      const asked = authorize(deps, asLocated(route), principal, refreshed)
      // A granted or pending answer is returned without a promise; only a refusal needs one.
      if (!(asked instanceof Promise)) return asked
      return asked.catch(noteDenied(options, route, principal, correlationId))
    },
    refreshRights: () => options.access.refresh?.(),
    rightsAsOf: () => options.access.asOf?.(),
    stillAllows: (route, principal) => stillAllows(deps, asLocated(route), principal),
    largeAt: ({ key }) => options.store.largeAt(key),
    hasSubscription: (id) => isStored(options.store, subscriptionIdOf(id).key),
    run: (route, input) =>
      notedIfDenied(options, dispatch(deps, asLocated(route), input), route, input),
    errorFamilyOf: (path) => familyOfPath(registry, path),
    describe: services.describe,
    async [Symbol.asyncDispose]() {
      await ownWork.disposeAsync()
      await reconciler[Symbol.asyncDispose]()
    },
  }
}

async function isStored(store: PlaneOptions['store'], key: string): Promise<boolean> {
  return (await store.get(key)) !== undefined
}

const deniedCodes = new Set(['AuthorizationFailed', 'DenyAssignmentAuthorizationFailed'])

/** A refusal for a right elsewhere is noted. Any other one was noted where the caller was authorized again. */
function notedIfDenied(
  options: PlaneOptions,
  outcome: Promise<Outcome>,
  route: Parameters<Plane['run']>[0],
  { pending, authorizeAgain, principal, correlationId }: RunInput,
): Promise<Outcome> {
  if (pending === undefined && authorizeAgain === undefined) return outcome
  const note = noteDenied(options, route, principal, correlationId)
  return outcome.catch((error: unknown) => {
    if (error instanceof GrantDenied) note(error)
    throw error
  })
}

/** Reports a refusal for a missing permission and rethrows it. */
function noteDenied(
  { onDenied }: Pick<PlaneOptions, 'onDenied'>,
  route: Parameters<Plane['run']>[0],
  principal: Principal,
  correlationId: string,
): (error: unknown) => never {
  return (error) => {
    if (error instanceof ApiError && deniedCodes.has(error.code)) {
      const { right, request } =
        error instanceof GrantDenied ? error : { right: route, request: 'unknown' as const }
      onDenied?.({
        correlationId,
        principalId: principal.id,
        action: right.action,
        scope: right.scope.text,
        ...(request === 'unknown' ? {} : { request: Object.fromEntries(request) }),
      })
    }
    throw error
  }
}

/** Every route was made by `locate`, so it has the members of a located route. */
function asLocated(route: Parameters<Plane['run']>[0]): LocatedRoute {
  return route as LocatedRoute
}

/** Returns no promise where the decision needs none: every request passes here. */
function authorize(
  deps: PlaneDependencies,
  route: LocatedRoute,
  principal: Principal,
  refreshed?: Promise<unknown>,
): ConditionalGrant | undefined | Promise<ConditionalGrant | undefined> {
  if (route.action === '') return undefined
  const wanted = { principal, action: route.action, scope: route.scope }
  const verdict =
    refreshed === undefined
      ? deps.access.allows(wanted)
      : refreshed.then(() => asKnown(deps.access).allows(wanted))
  const judge = (found: Verdict): ConditionalGrant | undefined | Promise<undefined> => {
    if (found === true) return undefined
    return found === false ? deniedUnlessPartly(deps, route, principal) : found
  }
  return verdict instanceof Promise ? verdict.then(judge) : judge(verdict)
}

async function stillAllows(
  deps: PlaneDependencies,
  route: LocatedRoute,
  principal: Principal,
): Promise<StillAllowed> {
  if (route.action === '') return { allowed: true, conditional: false }
  const { action, scope } = route
  const verdict = await deps.access.allows({ principal, action, scope })
  if (typeof verdict === 'boolean') return { allowed: verdict, conditional: false }
  const row = await deps.store.get(route.id.key)
  const compiled = row === undefined ? undefined : deps.registry.byKey(row.type)
  const known = row !== undefined && compiled !== undefined
  const resource = known ? attributesOf(deps, compiled, describedRow(row)) : 'unknown'
  const facts = { now: deps.clock.now(), request: 'unknown', resource } as const
  return { allowed: verdict.holds(facts), conditional: true }
}

/** For a list of which the caller may read only parts: the list leaves out the rest itself. */
async function deniedUnlessPartly(
  deps: PlaneDependencies,
  route: LocatedRoute,
  principal: Principal,
): Promise<undefined> {
  const isPartly = route.kind === 'list' && route.compiled.isPartlyListed
  if (isPartly && (await hasRoleBelow(deps.access, principal, route.scope))) return undefined
  return denied(deps, route, principal)
}

/**
 * A missing subscription is reported first (facts 9.7). Otherwise the answer is 403 whether or not the resource
 * exists.
 */
async function denied(
  deps: PlaneDependencies,
  route: LocatedRoute,
  principal: Principal,
): Promise<never> {
  const subscription = subscriptionOf(route.scope)
  const creates = route.kind === 'put' && deps.scopes === 'implicit'
  if (subscription !== undefined && !creates) {
    const scope = subscriptionIdOf(subscription)
    const itself = route.kind === 'put' && scope.key === route.scope.key
    if (!itself && (await deps.store.get(scope.key)) === undefined) {
      throw refuse.SubscriptionNotFound({ id: subscription })
    }
  }
  throw await refusalOf(deps.access, route, principal)
}

async function storedAttributes(deps: PlaneDependencies, id: ResourceId): Promise<Attributes> {
  const row = await deps.store.get(id.key)
  const compiled = row === undefined ? undefined : deps.registry.byKey(row.type)
  if (row === undefined || compiled === undefined) return noAttributes
  return attributesOf(deps, compiled, describedRow(row))
}

async function seed(
  deps: PlaneDependencies,
  path: string,
  version: string,
  body: object,
): Promise<void> {
  const query = new URLSearchParams({ 'api-version': version })
  const route = locate(deps.registry, 'PUT', path, query)
  if (route.kind !== 'put') throw new Error(`${path} is not the path of a PUT`)
  if ((await deps.store.get(route.id.key)) !== undefined) return
  await runPut(deps, route, {
    principal: installationPrincipal,
    query,
    body,
    isOwnBody: true,
    preconditions: {},
    correlationId: deps.ids.uuid(),
    pending: undefined,
  })
}

function dispatch(deps: PlaneDependencies, route: LocatedRoute, input: RunInput): Promise<Outcome> {
  switch (route.kind) {
    case 'put':
      return runPut(deps, route, input)
    case 'patch':
      return runPatch(deps, route, input)
    case 'write-computed':
      return writeComputed(deps, route, input)
    case 'get':
    case 'head':
      return runGet(deps, route, input)
    case 'list':
      return runList(deps, route, input)
    case 'delete':
      return runDelete(deps, route, input)
    case 'action':
      return runAction(deps, route, input)
    case 'operation-status':
    case 'operation-result':
      return runOperation(deps, route, input)
    default:
      return route satisfies never
  }
}
