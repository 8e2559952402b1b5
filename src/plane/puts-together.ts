/**
 * PUTs of one caller that arrive together, as those of a deployment do, share a transaction: what they find alike is looked
 * at once, and their rows are flushed at once. Each is authorized, checked, written and recorded by itself. Only success
 * counts in company: what is refused there has written nothing, and is sent once more alone, as all are whose transaction
 * fails. So a refusal takes back no write of another, and reads as it would alone.
 */

import { ApiError } from '#kernel/error.ts'
import type { FeedPositions, ResourceRow, Tx } from '#stores/store.ts'
import type { PlaneDependencies } from './dependencies.ts'
import type { LocatedRoute, WriteRoute } from './locate.ts'
import { nextTurn } from './next-turn.ts'
import type { Outcome, RunInput } from './plane.ts'
import { heldNow } from './reconcile/held.ts'
import { declaredWrite } from './verbs/declared-answer.ts'
import { aboveShared, sharedWrite } from './verbs/locked-write.ts'
import { putInside } from './verbs/put.ts'
import { noneBefore } from './verbs/rights-before.ts'
import { type Above, SharedChecks } from './verbs/shared-checks.ts'
import { begun, type WriteRequest } from './verbs/write.ts'

/** A PUT that may be written in company. */
interface SharedPut {
  readonly route: WriteRoute
  readonly input: RunInput & Required<Pick<RunInput, 'checkedBody'>>
  /** As it was before the caller was authorized: the transaction ends where rights have changed since. */
  readonly rightsAsOf: FeedPositions
}

interface Waiting {
  readonly put: SharedPut
  /** Throws where the work that it belongs to has lost its claim. */
  readonly requireHeld: () => void
  /** Undefined where it must be sent alone. */
  resolve(outcome: Outcome | undefined): void
}

/** The resources of one transaction. Others wait for its end before they write. */
const resourcesMax = 64

/**
 * Undefined where it must be sent alone: a type that has work in the background, a feed, or more to ask or to write than its
 * own row.
 */
export function sharedPut(
  route: LocatedRoute,
  input: RunInput,
  rightsAsOf: FeedPositions | undefined,
): SharedPut | undefined {
  const { checkedBody, preconditions, pending } = input
  if (route.kind !== 'put' || checkedBody === undefined || rightsAsOf === undefined) {
    return undefined
  }
  const { stored, reconcile } = route.compiled
  const { ifMatch, ifNoneMatch } = preconditions
  const isPlain =
    reconcile === undefined &&
    pending === undefined &&
    ifMatch === undefined &&
    ifNoneMatch === undefined &&
    stored.feed === undefined &&
    stored.sharedRow === undefined &&
    stored.prepare === undefined &&
    stored.onlyPutShows === undefined &&
    stored.declaredChildren === undefined &&
    stored.rightsElsewhere === undefined &&
    stored.protocol?.answers === undefined
  return isPlain ? { route, input: { ...input, checkedBody }, rightsAsOf } : undefined
}

export class PutsTogether {
  readonly #deps: PlaneDependencies
  /** Those that will go next. */
  #open: Company | undefined

  constructor(deps: PlaneDependencies) {
    this.#deps = deps
  }

  /** Undefined where it must be sent alone. */
  send(put: SharedPut): Promise<Outcome | undefined> {
    return new Promise((resolve) => {
      if (this.#open?.takes(put) !== true) {
        const company = new Company(put)
        this.#open = company
        void this.#sendLater(company)
      }
      this.#open?.add({ put, resolve, requireHeld: heldNow() })
    })
  }

  async #sendLater(company: Company): Promise<void> {
    await nextTurn(company.owner)
    if (this.#open === company) this.#open = undefined
    const waiting = company.inOrder(this.#deps.store.dialect === 'postgres')
    const outcomes = await this.#written(waiting)
    for (const [at, { resolve }] of waiting.entries()) resolve(outcomes[at])
  }

  /** Empty where the transaction failed: each says by itself why. */
  async #written(waiting: readonly Waiting[]): Promise<readonly (Outcome | undefined)[]> {
    const deps = this.#deps
    const [first] = waiting
    if (first === undefined) return []
    try {
      const requests = waiting.map(({ put }) => requestOf(deps, put))
      const work = async (tx: Tx): Promise<readonly (Outcome | undefined)[]> => {
        const outcomes = await writeAll(deps, requests, tx)
        for (const { requireHeld } of waiting) requireHeld()
        return outcomes
      }
      return await deps.store.transact(work, { expected: first.put.rightsAsOf })
    } catch {
      return []
    }
  }
}

/** Of one caller, decided by the same rights. */
class Company {
  readonly #first: SharedPut
  readonly #waiting: Waiting[] = []
  readonly #keys = new Set<string>()

  constructor(first: SharedPut) {
    this.#first = first
  }

  /** In whose name the turn is taken. */
  get owner(): string {
    return this.#first.input.principal.id
  }

  takes({ route, input, rightsAsOf }: SharedPut): boolean {
    const { input: first, rightsAsOf: positions } = this.#first
    return (
      this.#waiting.length < resourcesMax &&
      input.principal === first.principal &&
      input.correlationId === first.correlationId &&
      rightsAsOf === positions &&
      !this.#keys.has(route.id.key)
    )
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting)
    this.#keys.add(waiting.put.route.id.key)
  }

  /** Where transactions lock row by row, two that lock the same ones do so in one order. */
  inOrder(byKey: boolean): readonly Waiting[] {
    const keyOf = ({ put }: Waiting): string => put.route.id.key
    if (!byKey) return this.#waiting
    return this.#waiting.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  }
}

/** A scope that is missing is created alone: what was created for one that is refused would stay. */
function requestOf(deps: PlaneDependencies, { route, input }: SharedPut): WriteRequest {
  const rights = noneBefore(route.compiled)
  if (rights === undefined) throw new Error(`${route.id.text} cannot be written in company`)
  return { deps, route, input, body: input.checkedBody, rights, mayCreateScopes: false }
}

/** First all locks, then all writes: what guards say counts once all is locked. Undefined for what is refused. */
async function writeAll(
  deps: PlaneDependencies,
  requests: readonly WriteRequest[],
  tx: Tx,
): Promise<readonly (Outcome | undefined)[]> {
  const [first] = requests
  if (first === undefined) return []
  const shared = new SharedChecks(deps, first.input, tx, false)
  const locked: (Locked | undefined)[] = []
  for (const request of requests) {
    const { id } = request.route
    try {
      const above = shared.above(id) ?? (await aboveShared(request, tx, shared))
      locked.push({ request, above, row: begun(tx.lock(id.key, 'change')) })
    } catch (error) {
      locked.push(unlessRefused(error))
    }
  }
  await shared.lookForGuards(tx)
  const writes: Promise<void>[] = []
  const outcomes: (Outcome | undefined)[] = []
  for (const one of locked) {
    const pause = tx.pause()
    if (pause !== undefined) await pause
    try {
      outcomes.push(one && (await putOne(one, tx, { shared, writes })))
    } catch (error) {
      outcomes.push(unlessRefused(error))
    }
  }
  await Promise.all(writes)
  return outcomes
}

interface Locked {
  readonly request: WriteRequest
  readonly above: Above
  /** Not waited for: on a database server the locks of all are one way to it. */
  readonly row: Promise<ResourceRow | undefined>
}

async function putOne(
  { request, above, row }: Locked,
  tx: Tx,
  company: { readonly shared: SharedChecks; readonly writes: Promise<void>[] },
): Promise<Outcome> {
  const write = sharedWrite(request, tx, { ...company, above, row: await row })
  return declaredWrite(request.route, await putInside(write, tx, write))
}

/** A refusal comes before anything is written. Any other failure is one of the whole transaction. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof ApiError) return undefined
  throw error
}
