/** Puts the plane together: the table, the verbs and the reconciler over one store. */

import { randomBytes } from 'node:crypto'
import { ApiError, refuse } from '#kernel/error.ts'
import type { Limits } from '#kernel/limits.ts'
import type { Clock, Ids, Log } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { type ResourceId, subscriptionIdOf, subscriptionOf } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Store } from '#stores/store.ts'
import {
  type Access,
  type Attributes,
  type AttributeValue,
  noAttributes,
  type Pending,
  type Verdict,
} from './access.ts'
import { attributesOf, describedRow } from './attributes.ts'
import { type Caller, createCaller } from './caller.ts'
import { createChecker } from './check.ts'
import type { Provider, Reader, Resource } from './define.ts'
import { describe } from './describe.ts'
import type { Guard } from './guard.ts'
import { familyOfPath, type LocatedRoute, locate } from './locate.ts'
import { runOperation } from './operations.ts'
import { createReader, type Parts } from './parts.ts'
import { denial, GrantDenied } from './permit.ts'
import type { Outcome, Plane, RunInput, StillAllowed } from './plane.ts'
import { createReconciler, type ReconcilerLoop, type Timers } from './reconciler.ts'
import { createRegistry, type Registry, type VersionRule } from './registry.ts'
import { ownTrail } from './trail.ts'
import { runAction } from './verbs/act.ts'
import { amend } from './verbs/amend.ts'
import { emptyScope, runDelete, type Swept } from './verbs/delete.ts'
import { listTracked, runGet, runList, type TrackedPage } from './verbs/read.ts'
import { runPatch, runPut } from './verbs/write.ts'

export interface PlaneOptions {
  /** A function of what providers may ask of the plane, since they are declared before it exists. */
  readonly providers: (services: PlaneServices) => readonly Provider[]
  readonly store: Store
  readonly access: Access
  readonly words: VendorWords
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly limits: Limits
  readonly tokenKey: Uint8Array
  readonly scopes: 'implicit' | 'declared'
  /** Default `known`. */
  readonly apiVersions?: VersionRule
  readonly timers: Timers
  /** What may refuse a change although the caller may make it. Given what providers are given. */
  readonly guards?: readonly Guard[]
  /** Called when a request was refused for want of a permission. Must not throw, and nobody waits for it. */
  readonly onDenied?: (denied: Denied) => void
}

export interface Denied {
  readonly correlationId: string
  readonly principalId: string
  readonly action: string
  readonly scope: string
  /** What the body asked for, where a condition was about it. */
  readonly request?: Readonly<Record<string, AttributeValue>>
}

/** What a provider may ask of the plane beyond its context: other resources by id, as any client would. */
export interface PlaneServices {
  describe(): ReturnType<Plane['describe']>
  readonly reader: Reader
  listTracked(query: {
    readonly under: ResourceId
    readonly after?: string
    readonly limit: number
  }): Promise<TrackedPage>
  /** Removes what is below a scope, a bounded part at a time. */
  emptyScope(id: ResourceId): Promise<Swept>
  /** What conditions may know of a stored resource; nothing where nothing is stored. */
  attributesOf(id: ResourceId): Promise<Attributes>
  /** PUTs, as the installation itself, what has to be there from the start; one that is there stays as it is. */
  furnish(path: string, version: string, body: object): Promise<void>
  /** Changes what is stored in the installation's own name; what `change` answers is the new model. Was it written? */
  amend(id: ResourceId | string, change: (resource: Resource) => unknown): Promise<boolean>
  /** Requests of a principal, without the edge: everything else is as if they had come over HTTP. */
  readonly caller: Caller
  /** Calls back with the key of each resource whose background work came to an end here. A hint: it may be lost. */
  onSettled(callback: (key: string) => void, signal: AbortSignal): void
}

export interface RunningPlane extends Plane, AsyncDisposable {
  readonly registry: Registry
  readonly reader: Reader
  /** What providers are given; for pages and the like that belong to one. */
  readonly services: PlaneServices
  readonly reconciler: ReconcilerLoop
  /** Begins the work that needs no request: the reconciler's, and what providers do on their own. */
  start(): void
}

export function createPlane(options: PlaneOptions): RunningPlane {
  // Providers get services that reach the parts once these exist; none is called while declaring.
  const services: PlaneServices = {
    describe: () => describe(parts.registry),
    reader: {
      get: (id) => createReader(parts.registry, parts.store).get(id),
      list: (query) => createReader(parts.registry, parts.store).list(query),
      count: (query) => createReader(parts.registry, parts.store).count(query),
    },
    listTracked: (query) => listTracked(parts, query),
    emptyScope: (id) => emptyScope(parts, id, ownTrail),
    attributesOf: (id) => storedAttributes(parts, id),
    furnish: (path, version, body) => furnish(parts, path, version, body),
    amend: (id, change) => amend(parts, id, change),
    caller: {
      call: (request) => caller.call(request),
      rehearse: (requests, principal, correlationId) =>
        caller.rehearse(requests, principal, correlationId),
    },
    onSettled(callback, signal) {
      if (signal.aborted) return
      settled.add(callback)
      signal.addEventListener('abort', () => settled.delete(callback), { once: true })
    },
  }
  const settled = new Set<(key: string) => void>()
  const declared = options.providers(services)
  const registry = createRegistry(declared, options.words, options.apiVersions)
  const parts: Parts = {
    registry,
    store: options.store,
    access: options.access,
    checker: createChecker(),
    clock: options.clock,
    ids: options.ids,
    log: options.log,
    limits: options.limits,
    tokenKey: options.tokenKey,
    scopes: options.scopes,
    answers: new WeakMap(),
    guards: options.guards ?? [],
    wake: () => reconciler.wake(),
    settled: (key) => {
      for (const callback of settled) callback(key)
    },
  }
  const caller = createCaller(parts, {
    authorize: (route, principal) => authorize(parts, route, principal),
    dispatch: (route, input) => dispatch(parts, route, input),
  })
  const owner = randomBytes(12).toString('hex')
  const ownWork = new AsyncDisposableStack()
  const reconciler = createReconciler(parts, owner, options.timers)
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
    locate: (method, path, query) => locate(registry, method, path, query),
    authorize(route, principal, correlationId) {
      const asked = authorize(parts, asLocated(route), principal)
      // A plain yes or a pending one is answered at once; only a no takes its time.
      if (!(asked instanceof Promise)) return asked
      return asked.catch(noteDenied(options, route, principal, correlationId))
    },
    stillAllows: (route, principal) => stillAllows(parts, asLocated(route), principal),
    run(route, input) {
      const outcome = dispatch(parts, asLocated(route), input)
      if (input.pending === undefined) return outcome
      return outcome.catch(noteDenied(options, route, input.principal, input.correlationId))
    },
    errorFamilyOf: (path) => familyOfPath(registry, path),
    describe: services.describe,
    async [Symbol.asyncDispose]() {
      await ownWork.disposeAsync()
      await reconciler[Symbol.asyncDispose]()
    },
  }
}

/** Tells of a refusal for want of a permission, and lets it go on its way. */
function noteDenied(
  { onDenied }: Pick<PlaneOptions, 'onDenied'>,
  route: Parameters<Plane['run']>[0],
  principal: Principal,
  correlationId: string,
): (error: unknown) => never {
  return (error) => {
    if (error instanceof ApiError && error.code === 'AuthorizationFailed') {
      const { action, scope } = route
      const request = error instanceof GrantDenied ? error.request : 'unknown'
      onDenied?.({
        correlationId,
        principalId: principal.id,
        action,
        scope: scope.text,
        ...(request === 'unknown' ? {} : { request: Object.fromEntries(request) }),
      })
    }
    throw error
  }
}

/** Routes are made by `locate` alone, so they carry what it put in. */
function asLocated(route: Parameters<Plane['run']>[0]): LocatedRoute {
  return route as LocatedRoute
}

/** Synchronous where the decision is: every request passes here. */
function authorize(
  parts: Parts,
  route: LocatedRoute,
  principal: Principal,
): Pending | undefined | Promise<Pending | undefined> {
  if (route.action === '') return undefined
  const verdict = parts.access.allows({ principal, action: route.action, scope: route.scope })
  const judge = (found: Verdict): Pending | undefined | Promise<never> => {
    if (found === true) return undefined
    return found === false ? denied(parts, route, principal) : found
  }
  return verdict instanceof Promise ? verdict.then(judge) : judge(verdict)
}

async function stillAllows(
  parts: Parts,
  route: LocatedRoute,
  principal: Principal,
): Promise<StillAllowed> {
  if (route.action === '') return { allowed: true, conditional: false }
  const { action, scope } = route
  const verdict = await parts.access.allows({ principal, action, scope })
  if (typeof verdict === 'boolean') return { allowed: verdict, conditional: false }
  const row = await parts.store.get(route.id.key)
  const compiled = row === undefined ? undefined : parts.registry.byKey(row.type)
  const known = row !== undefined && compiled !== undefined
  const resource = known ? attributesOf(parts, compiled, describedRow(row)) : 'unknown'
  const facts = { now: parts.clock.now(), request: 'unknown', resource } as const
  return { allowed: verdict.holds(facts), conditional: true }
}

/** A subscription that does not exist is said first (facts 9.7); after that, 403 whatever exists. */
async function denied(parts: Parts, route: LocatedRoute, principal: Principal): Promise<never> {
  const subscription = subscriptionOf(route.scope)
  const creates = route.kind === 'put' && parts.scopes === 'implicit'
  if (subscription !== undefined && !creates) {
    const scope = subscriptionIdOf(subscription)
    const itself = route.kind === 'put' && scope.key === route.scope.key
    if (!itself && (await parts.store.get(scope.key)) === undefined) {
      throw refuse.SubscriptionNotFound({ id: subscription })
    }
  }
  throw denial(route, principal)
}

async function storedAttributes(parts: Parts, id: ResourceId): Promise<Attributes> {
  const row = await parts.store.get(id.key)
  const compiled = row === undefined ? undefined : parts.registry.byKey(row.type)
  if (row === undefined || compiled === undefined) return noAttributes
  return attributesOf(parts, compiled, describedRow(row))
}

/** Nobody's request: what the installation brings into being by itself. */
const installation: Principal = {
  id: 'system',
  type: 'ServicePrincipal',
  tenantId: '',
  displayName: 'the installation',
  clientId: '',
  groups: [],
}

async function furnish(parts: Parts, path: string, version: string, body: object): Promise<void> {
  const query = new URLSearchParams({ 'api-version': version })
  const route = locate(parts.registry, 'PUT', path, query)
  if ((await parts.store.get(route.id.key)) !== undefined) return
  await runPut(parts, route, {
    principal: installation,
    query,
    body,
    preconditions: {},
    correlationId: parts.ids.uuid(),
    pending: undefined,
  })
}

function dispatch(parts: Parts, route: LocatedRoute, input: RunInput): Promise<Outcome> {
  switch (route.kind) {
    case 'put':
      return runPut(parts, route, input)
    case 'patch':
      return runPatch(parts, route, input)
    case 'get':
    case 'head':
      return runGet(parts, route, input)
    case 'list':
      return runList(parts, route, input)
    case 'delete':
      return runDelete(parts, route, input)
    case 'action':
      return runAction(parts, route, input)
    case 'operation-status':
    case 'operation-result':
      return runOperation(parts, route, input)
    default:
      return route.kind satisfies never
  }
}
