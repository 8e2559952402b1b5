/**
 * Internal requests: located, authorized and run like any request of the same principal over HTTP. Nothing is
 * granted, no check is skipped, and refusals are the same; only HTTP itself is missing.
 */

import { ApiError, refuse } from '#kernel/error.ts'
import type { Preconditions } from '#kernel/etag.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Principal } from '#kernel/principal.ts'
import { parentOf } from '#kernel/resource-id.ts'
import { createRoom, type Leave, type Room } from '#kernel/room.ts'
import { StoreConflict } from '#stores/store.ts'
import type { ConditionalGrant } from './access.ts'
import { isForRequest, roomForLarge } from './behalf-of.ts'
import type { Action } from './declare/action.ts'
import { isKnownLarge, type PlaneDependencies } from './dependencies.ts'
import { DryRun } from './dry-run.ts'
import { type LocatedRoute, locate } from './locate.ts'
import { freeTurn, nextTurn } from './next-turn.ts'
import type { Method, Outcome, RunInput } from './plane.ts'
import { PutsTogether, sharedPut } from './puts-together.ts'
import { mayCreateScopes } from './scopes.ts'
import { type DryRunPut, prepareDryRun } from './verbs/put.ts'
import { SharedChecks } from './verbs/shared-checks.ts'
import { previewComputed } from './verbs/write-computed.ts'

interface CallerRequest {
  readonly method: Method
  /** A path as in a URL, with or without a query; `version` is the api-version. */
  readonly path: string
  readonly version: string
  readonly body?: unknown
  readonly preconditions?: Preconditions
  /** A PUT that others of the same caller are sent with: it may share a transaction with them. */
  readonly isOneOfMany?: true
}

type CallerOutcome = Outcome &
  Pick<LocatedRoute, 'isOpen'> &
  // As the action that answered declares it.
  Pick<Action<unknown>, 'revealsSecret'>

type SentRequest = CallerRequest & { readonly principal: Principal; readonly correlationId: string }

export interface Caller {
  /** Throws the refusals of the plane. When the answer is an operation, `statusPath` leads to its status. */
  call(request: SentRequest): Promise<CallerOutcome>
  /**
   * Tries PUTs one after the other, each seeing the results of those before it, and keeps nothing. Holds no
   * transaction meanwhile. A refused PUT is reported as refused; the others go on until `signal` is aborted.
   */
  dryRun(
    requests: readonly Omit<CallerRequest, 'method'>[],
    principal: Principal,
    correlationId: string,
    options?: DryRunOptions,
  ): Promise<readonly DryRunResult[]>
}

interface DryRunOptions {
  readonly signal?: AbortSignal | undefined
  /** The same bodies are sent afterwards: what was checked of them is kept as long as they are. */
  readonly isSentNext?: boolean | undefined
}

export type DryRunResult =
  | {
      readonly kind: 'ok'
      /** 201 means that the resource would be created. */
      readonly status: number
      readonly body: unknown
      /** The current tag when the PUT would change nothing, a new one otherwise. */
      readonly etag: string | undefined
      /** True when the PUT would change nothing; the body is then the resource as stored. */
      readonly isUnchanged: boolean
      /** True when an expression that reads something the body lacks gets an invented value. */
      readonly isOpen: boolean
    }
  | {
      readonly kind: 'refused'
      readonly error: ApiError
      /**
       * True when it was refused before its scopes, its parent and its own row were read. What the type itself read to
       * complete the body may still be missing.
       */
      readonly early: boolean
    }

/** A PUT that was tried, as far as neither rights nor anything stored has a say in it. */
interface CheckedPut {
  readonly path: string
  readonly version: string
  readonly route: LocatedRoute
  readonly query: URLSearchParams
  readonly body: NonNullable<RunInput['checkedBody']>
}

interface Ready {
  readonly route: LocatedRoute
  readonly input: RunInput
}

interface Verbs {
  authorize(
    route: LocatedRoute,
    principal: Principal,
  ): ConditionalGrant | undefined | Promise<ConditionalGrant | undefined>
  dispatch(route: LocatedRoute, input: RunInput): Promise<Outcome>
}

/** PUTs tried between two pauses. Other requests run during a pause. */
const dryRunAtOnce = 16
/** Characters of the large resources that the trials of one principal look at, at once. One beyond takes all of it. */
const largeCharactersMax = 8 * 1024 * 1024

/** The query of a request without any other; nobody changes it. */
function createQueries(): (version: string) => URLSearchParams {
  // The resources of a deployment are mostly of one version.
  let last: { readonly version: string; readonly query: URLSearchParams } | undefined
  return (version) => {
    if (last?.version !== version) {
      last = { version, query: new URLSearchParams({ 'api-version': version }) }
    }
    return last.query
  }
}

export function createCaller(deps: PlaneDependencies, verbs: Verbs): Caller {
  const together = new PutsTogether(deps)
  const largeRows = createRoom({
    perOwnerMax: largeCharactersMax,
    sumMax: Number.POSITIVE_INFINITY,
  })

  /**
   * By their bodies, which nobody changes: whoever sends what was tried sends the same ones, and address and body need not be
   * checked again. Who may do it, and all that is stored, is looked at anew.
   */
  const checkedPuts = new WeakMap<object, CheckedPut>()

  const queryOf = createQueries()

  function checkedBefore({ method, path, version, body }: CallerRequest): CheckedPut | undefined {
    if (method !== 'PUT' || !isJsonObject(body)) return undefined
    const found = checkedPuts.get(body)
    return found?.path === path && found.version === version ? found : undefined
  }

  function located(request: CallerRequest): Pick<CheckedPut, 'route' | 'query'> {
    const mark = request.path.indexOf('?')
    const path = mark < 0 ? request.path : request.path.slice(0, mark)
    const query =
      mark < 0 ? queryOf(request.version) : new URLSearchParams(request.path.slice(mark + 1))
    if (mark >= 0) query.set('api-version', request.version)
    return { route: locate(deps.registry, request.method, path, query), query }
  }

  async function ready(
    request: CallerRequest,
    principal: Principal,
    correlationId: string,
  ): Promise<Ready> {
    const before = checkedBefore(request)
    const { route, query } = before ?? located(request)
    const pending = await verbs.authorize(route, principal)
    const { body, preconditions = {} } = request
    const checked = before === undefined ? {} : { checkedBody: before.body }
    const input = { principal, query, body, preconditions, correlationId, pending, ...checked }
    return { route, input }
  }

  /** A refused PUT leaves nothing for the PUTs after it. */
  async function tryOne(request: CallerRequest, trial: Trial): Promise<DryRunResult> {
    const { rows, shared, principal, correlationId, signal, isSentNext } = trial
    let put: DryRunPut | undefined
    let leave: Leave | undefined
    try {
      const { route, input } = await ready(request, principal, correlationId)
      const large = deps.store.largeAt(route.id.key)
      if (large > 0) leave = await roomForTrial(largeRows, principal.id, large, signal)
      const expecting = expectSibling(rows, route)
      if (expecting !== undefined) await expecting
      put = await tried(deps, route, input, { reads: rows, shared })
      const { path, version, body } = request
      if (isSentNext && put.checkedBody !== undefined && isJsonObject(body)) {
        const { query } = input
        checkedPuts.set(body, { path, version, route, query, body: put.checkedBody })
      }
      return resultOf(rows, await put.run(rows), route.isOpen === true)
    } catch (error) {
      rows.takeBack()
      const isTaken = error instanceof StoreConflict && error.unique !== undefined
      const refusal = isTaken ? await put?.uniqueRefusal(error.unique ?? '') : error
      if (!(refusal instanceof ApiError)) throw refusal
      return { kind: 'refused', error: refusal, early: put === undefined }
    } finally {
      leave?.()
    }
  }

  return {
    async call(request) {
      const { principal, correlationId, isOneOfMany } = request
      // Whoever sends thousands may be refused each of them without waiting for anything.
      const turn = freeTurn(principal.id)
      if (turn !== undefined) await turn
      const begin = () => ready(request, principal, correlationId)
      let { route, input } = await readyToWait(deps, verbs, begin)
      // The bodies are small, and what is stored may be megabytes each: others wait for the transaction that reads it.
      const isAlone = isOneOfMany !== true || deps.store.largeAt(route.id.key) > 0
      const put = isAlone ? undefined : sharedPut(route, input, input.rightsAsOf)
      const shared = put && (await together.send(put))
      // It has waited for others meanwhile.
      if (put !== undefined && shared === undefined) {
        ;({ route, input } = await readyToWait(deps, verbs, begin))
      }
      if (isKnownLarge(deps.store, route.id.key)) await roomForLarge()
      const outcome = shared ?? (await verbs.dispatch(route, input))
      // A copy of the answer makes its body, so only those are copied that say more than their outcome.
      const answered = route.isOpen === undefined ? outcome : { ...outcome, isOpen: true as const }
      const isSecret = route.kind === 'action' && route.declaredAction.revealsSecret === true
      return isSecret ? { ...answered, revealsSecret: true } : answered
    },
    async dryRun(requests, principal, correlationId, { signal, isSentNext = false } = {}) {
      const rows = new DryRun(deps.store)
      const mayCreate = await mayCreateScopes(deps, { principal })
      const shared = new SharedChecks(deps, { principal, correlationId }, rows, mayCreate)
      rows.shared = shared
      const results: DryRunResult[] = []
      const trial = { rows, shared, principal, correlationId, signal, isSentNext }
      for (const [at, request] of requests.entries()) {
        if (at % dryRunAtOnce === 0) await nextTurn()
        signal?.throwIfAborted()
        results.push(await tryOne({ ...request, method: 'PUT' }, trial))
      }
      return results
    },
  }
}

/** A write that waits behind others is authorized again, as one from outside is. */
async function readyToWait(
  deps: PlaneDependencies,
  verbs: Verbs,
  begin: () => Promise<Ready>,
): Promise<Ready> {
  const rightsAsOf = deps.access.asOf?.()
  const { route, input } = await begin()
  const authorizeAgain = async () => verbs.authorize(route, input.principal)
  return { route, input: { ...input, rightsAsOf, authorizeAgain } }
}

/** What goes on by itself has no room of a request. */
async function roomForTrial(
  largeRows: Room,
  owner: string,
  characters: number,
  signal: AbortSignal | undefined,
): Promise<Leave | undefined> {
  if (!isForRequest()) return largeRows.enter(owner, characters, () => signal)
  await roomForLarge()
  return undefined
}

interface Trial {
  readonly rows: DryRun
  readonly shared: SharedChecks
  readonly principal: Principal
  readonly correlationId: string
  readonly signal: AbortSignal | undefined
  readonly isSentNext: boolean
}

/** The type of a nested row is that of its path, unless several paths share one row. */
function expectSibling(rows: DryRun, route: LocatedRoute): Promise<void> | undefined {
  const { id, scope } = route
  const isNested = (id.segments.at(-1)?.types.length ?? 0) > 1
  if (route.kind !== 'put' || !isNested || id !== scope) return undefined
  const { key, stored } = route.compiled
  const isUniqueBelow = stored.unique?.isUniqueBelow === true
  return rows.expect(id.key, { type: key, under: parentOf(id).key, isUniqueBelow })
}

/** `locate` refuses a PUT to any other kind of type, so this path leads to a stored or a computed one. */
async function tried(
  deps: PlaneDependencies,
  route: LocatedRoute,
  input: RunInput,
  trial: { readonly reads: DryRun; readonly shared: SharedChecks },
): Promise<DryRunPut> {
  if (route.kind === 'put') return prepareDryRun(deps, route, input, trial)
  if (route.kind !== 'write-computed') throw new Error(`${route.id.text} is not the path of a PUT`)
  return {
    run: (rows) => previewComputed(deps, route, input, rows),
    checkedBody: undefined,
    uniqueRefusal: async (key) => refuse.Conflict({ id: key }),
  }
}

function resultOf(rows: DryRun, outcome: Outcome, isOpen: boolean): DryRunResult {
  const { status, etag } = outcome
  // This PUT may change nothing although an earlier PUT of the plan created the resource.
  const isUnchanged = outcome.isUnchanged === true && !rows.hasWritten(etag)
  rows.keep()
  return {
    kind: 'ok',
    status,
    // It may be made only now.
    get body() {
      return outcome.body
    },
    etag,
    isUnchanged,
    isOpen,
  }
}
