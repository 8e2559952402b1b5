/**
 * Background work begins here: what is due is claimed by lease and fence, worked on turn by turn (`step.ts`), and
 * given back. A wake carries no data; all state is in the store. So a start is no special case, and any number of
 * replicas share the work without doing a step twice. It is done in nobody's name, though a request may have brought it.
 */

import { keepLease, unlessTooLong } from '#kernel/lease.ts'
import type { Timers } from '#kernel/ports.ts'
import { groupKey, subscriptionKey } from '#kernel/resource-id.ts'
import { forEverybody } from '#stores/awaited.ts'
import { type Claim, StoreConflict, StoreUnavailable } from '#stores/store.ts'
import { LostClaim } from '#stores/tries.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import { forNoClaim, whileHeld } from './held.ts'
import { LargeWork } from './large-work.ts'
import type { Lease } from './record.ts'
import { type ReplacedState, watchReplacedState } from './replaced-state.ts'
import { backOffMilliseconds, isHeld, reconcileOnce } from './step.ts'

/** Steps done under one claim before it is given back, so that one resource cannot occupy a worker for ever. */
const stepsPerClaimMax = 50
const sweepEverySeconds = 600
const sweepRowsMax = 500
/** No type waits so long between two looks: what is due later was planned while the clock was ahead. */
const restSecondsMax = 3600
/** The wait after a sweep that left more, for what others write. */
const sweepAgainMilliseconds = 25
const idleMillisecondsMax = 5000
/** The share of what others leave that one resource group, or all management groups, may take, since its resources may wait for slow machines. */
const groupShare = 3 / 4
/** Work that takes longer mostly waits: its place is another's from then on, up to twice as many as work at once. */
const waitingMilliseconds = 2000
/**
 * What takes longer when the process ends is left, as if it had been killed: a deployment may wait for minutes. Another
 * process goes on with it when its lease has expired, and the next one on SQLite at once.
 */
const stopMilliseconds = 10_000
/** Delay before work of a group that has used its share is considered again: twice as long each time that no work of it has ended, up to eight seconds. */
const crowdedMilliseconds = 1000
const crowdedDoublingsMax = 3
/** Beyond, all are as if they had waited for nothing yet. */
const crowdedMax = 10_000

export interface ReconcilerLoop extends AsyncDisposable {
  start(): void
  /** Called when something may be due: the reconciler looks soon. A missed call loses no work. */
  wake(): void
  /** What this process works on, and the steps since it started. */
  counts(): { readonly running: number; readonly done: number; readonly failed: number }
  /** Resolves when nothing is due and nothing is under way: for tests. */
  idle(): Promise<void>
}

export function createReconciler(
  deps: PlaneDependencies,
  owner: string,
  timers: Timers,
): ReconcilerLoop {
  let running = false
  /** The claiming in progress. A wake during it makes it look once more at its end. */
  let claiming: Promise<void> | undefined
  let again = false
  let nap: { cancel(): void } | undefined
  const sweep = new Sweep(deps)
  const underway = new Map<Lease, Promise<void>>()
  const waiting = new Set<Lease>()
  const steps = { done: 0, failed: 0 }
  const [large, crowds] = [new LargeWork(), new Crowds()]
  const closing = new AbortController()
  const replaced = watchReplacedState(deps)

  const claimUntilQuiet = async (): Promise<void> => {
    sweep.leftMore = false
    try {
      do {
        again = false
        await claimFree()
      } while (again && running)
    } catch (error) {
      // The store is away. Claims that were made nevertheless expire by themselves.
      deps.log.warn({ error: String(error) }, 'background work waits for the store')
    } finally {
      claiming = undefined
    }
  }

  /** Its timers are in the context of whoever wakes it, which may be work that has a claim. */
  const look = (): Promise<void> =>
    forNoClaim(async () => {
      if (!running) return
      if (claiming !== undefined) {
        again = true
        return
      }
      claiming = claimUntilQuiet()
      await claiming
      const due = await deps.store.nextDue().catch(() => undefined)
      if (!running) return
      const wait = (due ?? Number.POSITIVE_INFINITY) - deps.clock.now()
      nap?.cancel()
      const longest = sweep.leftMore ? sweepAgainMilliseconds : idleMillisecondsMax
      nap = timers.after(Math.min(longest, Math.max(10, wait)), look)
    })

  /** Claims as much as there is room for. When more is due, the end of running work looks again. */
  const claimFree = async (): Promise<void> => {
    const { stepsAtOnceMax: max, leaseSeconds } = deps.limits
    const free = Math.min(max - underway.size + waiting.size, 2 * max - underway.size)
    if (free <= 0 || deps.heap?.isFull() === true) return
    const now = deps.clock.now()
    const claims = await deps.store.claimDue(owner, now, leaseSeconds, free)
    if (claims.length > 0) await replaced.look()
    const crowded: Claim[] = []
    for (const claim of claims) {
      if (crowds.hasFound(claim, { underway, waiting }, max)) {
        crowded.push(claim)
        continue
      }
      const until = now + leaseSeconds * 1000
      const lease = leaseOf({ claim, until, steps, large }, { underway, waiting }, max)
      const wait = timers.after(waitingMilliseconds, () => {
        if (underway.has(lease)) waiting.add(lease)
        return look()
      })
      const work = handle(deps, lease, timers)
        .catch((error) => fault(deps, claim, error, replaced))
        .finally(() => {
          wait.cancel()
          waiting.delete(lease)
          underway.delete(lease)
          crowds.ended(claim.key)
          void look()
        })
      underway.set(lease, work)
    }
    await releaseAll(deps, crowded, (key) => now + crowds.delayOf(key))
    // Work of other groups may wait behind them, and there is room for it.
    if (crowded.length > 0) again = true
    await sweep.look(now)
  }

  return {
    start() {
      running = true
      deps.store.onWork(() => void forEverybody(look))
      deps.faults?.onLoss((key) => void handleEvent(deps, key, look))
      for (const { reconcile } of deps.registry.types) {
        reconcile?.watchEvents?.((key) => {
          // Recorded at once: running work that has already observed must observe again.
          for (const lease of underway.keys()) if (lease.claim.key === key) lease.hasNewEvent = true
          void forEverybody(() => handleEvent(deps, key, look))
        }, closing.signal)
      }
      void look()
    },
    wake: () => void forEverybody(look),
    counts: () => ({ running: underway.size, ...steps }),
    async idle() {
      for (;;) {
        await Promise.all(underway.values())
        const due = await deps.store.nextDue()
        // Claiming may still have work to hand out, so the loop is idle only when both have ended.
        const isQuiet = underway.size === 0 && claiming === undefined
        if (isQuiet && (due === undefined || due > deps.clock.now())) return
        await new Promise<void>((resolve) => timers.after(5, resolve))
      }
    },
    async [Symbol.asyncDispose]() {
      running = false
      closing.abort()
      nap?.cancel()
      // Work that is still being claimed is done as well, or it would stay claimed until its lease expires.
      const ended = allEnded(underway, () => claiming)
      await unlessTooLong(ended, timers, stopMilliseconds)
      if (underway.size > 0) deps.log.warn({ left: underway.size }, 'background work was left')
    },
  }
}

/** Removes operations whose time is over, some at a time, and ends waits that are too long. */
class Sweep {
  /** The last look swept, and left more. */
  leftMore = false
  #at = 0
  /** The look before has left some. */
  #goesOn = false
  readonly #deps: PlaneDependencies

  constructor(deps: PlaneDependencies) {
    this.#deps = deps
  }

  async look(now: number): Promise<void> {
    const every = sweepEverySeconds * 1000
    // It is farther away where the clock was set back.
    if (now < this.#at && this.#at - now <= every) return
    this.#at = now + every
    const { store, limits } = this.#deps
    if (!this.#goesOn)
      await store.hasten(now, now + Math.max(restSecondsMax, 2 * limits.backoffSecondsMax) * 1000)
    const before = now - limits.operationKeptSeconds * 1000
    this.leftMore = (await store.sweepOperations(before, sweepRowsMax)) >= sweepRowsMax
    this.#goesOn = this.leftMore
    if (this.leftMore) this.#at = now
  }
}

async function allEnded(
  underway: ReadonlyMap<Lease, Promise<void>>,
  claiming: () => Promise<void> | undefined,
): Promise<void> {
  while (claiming() !== undefined || underway.size > 0) {
    await claiming()
    await Promise.all(underway.values())
  }
}

/** All at once, so that one flush serves them: one by one, a large group would delay others by a flush each. */
async function releaseAll(
  { store }: PlaneDependencies,
  claims: readonly Claim[],
  dueAt: (key: string) => number,
): Promise<void> {
  await Promise.all(claims.map((claim) => store.release(claim, dueAt(claim.key), false)))
}

/**
 * How often work has found its group crowded while no other work of it ended: a group may have thousands due, and each is
 * claimed and released each time.
 */
class Crowds {
  readonly #found = new Map<string, { readonly times: number; readonly ends: number }>()
  /** By group. */
  readonly #ends = new Map<string, number>()

  delayOf(key: string): number {
    const ends = this.#ends.get(shareKey(key)) ?? 0
    const before = this.#found.get(key)
    const times = before?.ends === ends ? before.times : 0
    if (this.#found.size >= crowdedMax) this.#found.clear()
    this.#found.set(key, { times: Math.min(times + 1, crowdedDoublingsMax), ends })
    return crowdedMilliseconds * 2 ** times
  }

  ended(key: string): void {
    if (this.#found.size === 0) this.#ends.clear()
    else this.#ends.set(shareKey(key), (this.#ends.get(shareKey(key)) ?? 0) + 1)
  }

  hasFound(claim: Claim, running: Running, max: number): boolean {
    const isFound = isCrowded(claim, running, max)
    if (!isFound) this.#found.delete(claim.key)
    return isFound
  }
}

interface Running {
  readonly underway: ReadonlyMap<Lease, unknown>
  readonly waiting: ReadonlySet<Lease>
}

/** Of a key: the one of its resource group; outside those, of the first scope. Management groups have one share: whoever makes them has any number. */
function shareKey(key: string): string {
  return key.includes('/resourcegroups/') ? groupKey(key) : subscriptionKey(key)
}

/** A group without work under way finds a place as long as there is one. */
function isCrowded({ key }: Claim, { underway, waiting }: Running, max: number): boolean {
  const group = shareKey(key)
  const own = [...underway.keys()].filter((one) => shareKey(one.claim.key) === group)
  if (own.length === 0) return false
  const working = own.filter((one) => !waiting.has(one)).length
  const others = underway.size - waiting.size - working
  if (own.length >= Math.ceil(max * groupShare)) return true
  return others > 0 && working + 1 > (max - others) * groupShare
}

function leaseOf(
  held: Pick<Lease, 'claim' | 'until' | 'steps' | 'large'>,
  running: Running,
  max: number,
): Lease {
  const lease: Lease = {
    ...held,
    hasNewEvent: false,
    owner: undefined,
    hasPlace: () => hasPlace(lease, running, max),
  }
  return lease
}

/**
 * Whether the waiting work of its owner leaves it a place: of one owner no more waits than half of what may work at once,
 * and the last quarter of all places is for owners of whom nothing waits. A group without other work has a place anyway.
 */
function hasPlace(lease: Lease, { underway, waiting }: Running, max: number): boolean {
  const group = shareKey(lease.claim.key)
  const others = [...underway.keys()].filter((one) => one !== lease)
  if (others.every((one) => shareKey(one.claim.key) !== group)) return true
  const own = others.filter((one) => waiting.has(one) && one.owner === lease.owner).length
  return own === 0 || (own < max / 2 && underway.size <= max * 1.5)
}

/** Handles an event of the engine: the resource becomes due now, if it is stored. */
async function handleEvent(
  deps: PlaneDependencies,
  key: string,
  look: () => Promise<void>,
): Promise<void> {
  try {
    await deps.store.transact(async (tx) => {
      // Locked, so that work that is ending either sees the event or ends before this is scheduled.
      if ((await tx.lock(key, 'share')) !== undefined) await tx.schedule(key, deps.clock.now())
    })
    await look()
  } catch (error) {
    deps.log.debug(
      { key, error: String(error) },
      'an event was lost; the next look sees the change',
    )
  }
}

/** A fault of ours or of the store in background work: logged and tried again later, never a crash. */
async function fault(
  deps: PlaneDependencies,
  claim: Claim,
  error: unknown,
  replaced: ReplacedState,
): Promise<void> {
  // Work that was under way while the state was replaced may have remembered the earlier one once more.
  if (error instanceof LostClaim) replaced.forget(claim.key)
  // A claim that another worker holds now is that worker's, and a store that is away comes back.
  const isOurs = !(error instanceof StoreConflict || error instanceof StoreUnavailable)
  deps.log[isOurs ? 'error' : 'warn']({ key: claim.key, error }, 'background work failed')
  await deps.store
    .release(claim, deps.clock.now() + backOffMilliseconds(deps, claim.attempt), true)
    .catch(() => undefined)
}

/** Takes turns until there is nothing to do now, and renews the lease meanwhile. */
async function handle(deps: PlaneDependencies, lease: Lease, timers: Timers): Promise<void> {
  const { claim } = lease
  const everyMilliseconds = (deps.limits.leaseSeconds * 1000) / 3
  const renew = async (): Promise<boolean> => {
    const asked = deps.clock.now()
    // Without an answer the lease may have been renewed or not, so it counts only until its old end.
    const held = await deps.store.renew(claim, asked, deps.limits.leaseSeconds)
    lease.until = held ? asked + deps.limits.leaseSeconds * 1000 : asked
    return held
  }
  // Renewed after its end it would be nobody's for ever, where it could not be given back.
  using _ = keepLease(timers, everyMilliseconds, renew, () => undefined)
  for (let steps = 0; isHeld(deps, lease) && steps < stepsPerClaimMax; steps++) {
    const once = () => reconcileOnce(deps, lease)
    if (!(await whileHeld(() => isHeld(deps, lease), once))) return
  }
  await deps.store.release(claim, deps.clock.now(), false)
}
