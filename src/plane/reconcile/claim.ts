/**
 * Background work begins here: what is due is claimed by lease and fence, worked on turn by turn (`step.ts`), and given
 * back. A wake carries no data but "look"; all state is in the store, so starting up is not a special case, and any
 * number of replicas share the work without doing a step twice.
 */

import type { Timers } from '#kernel/ports.ts'
import { type Claim, StoreConflict, StoreUnavailable } from '#stores/store.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import type { Lease } from './record.ts'
import { backOffMilliseconds, isHeld, takeTurn } from './step.ts'

/** Steps done under one claim before it is given back, so that one resource cannot hold a worker for good. */
const stepsPerClaimMax = 50
const sweepEverySeconds = 600
const sweepRowsMax = 500
const idleMillisecondsMax = 5000
/** Of all that may be under way, the part that one resource group may take: its resources may wait for slow machines. */
const groupShare = 3 / 4
/** Work of a group that has taken its part is looked at again after so long. */
const crowdedMilliseconds = 1000

export interface ReconcilerLoop extends AsyncDisposable {
  start(): void
  /** Something may be due: look soon. Never loses work by being lost. */
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
  /** The claiming under way; what is heard of meanwhile is looked for once more at its end. */
  let claiming: Promise<void> | undefined
  let again = false
  let nap: { cancel(): void } | undefined
  let sweepAt = 0
  const underway = new Map<Lease, Promise<void>>()
  const steps = { done: 0, failed: 0 }
  const closing = new AbortController()

  const claimUntilQuiet = async (): Promise<void> => {
    try {
      do {
        again = false
        await claimFree()
      } while (again && running)
    } catch (error) {
      // The store is away: claims, if any were made, run out by themselves.
      deps.log.warn({ error: String(error) }, 'background work waits for the store')
    } finally {
      claiming = undefined
    }
  }

  const look = async (): Promise<void> => {
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
    nap = timers.after(Math.min(idleMillisecondsMax, Math.max(10, wait)), look)
  }

  /** As much as there is room for. Where more is due, the end of what is under way looks again. */
  const claimFree = async (): Promise<void> => {
    const free = deps.limits.stepsAtOnceMax - underway.size
    if (free <= 0) return
    const now = deps.clock.now()
    const claims = await deps.store.claimDue(owner, now, deps.limits.leaseSeconds, free)
    const crowded: Claim[] = []
    for (const claim of claims) {
      const group = groupKey(claim.key)
      const taken = [...underway.keys()].filter((one) => groupKey(one.claim.key) === group).length
      if (taken >= Math.ceil(deps.limits.stepsAtOnceMax * groupShare)) {
        crowded.push(claim)
        continue
      }
      const until = now + deps.limits.leaseSeconds * 1000
      const lease: Lease = { claim, until, hasNewEvent: false, steps }
      const work = handle(deps, lease, timers)
        .catch((error) => fault(deps, claim, error))
        .finally(() => {
          underway.delete(lease)
          void look()
        })
      underway.set(lease, work)
    }
    if (crowded.length > 0) {
      // All at once: one flush gives back what a large group is refused, or others would wait for one of each.
      const later = now + crowdedMilliseconds
      await Promise.all(crowded.map((claim) => deps.store.release(claim, later, false)))
      // Behind them may be work of others, for which there is room.
      again = true
    }
    if (now < sweepAt) return
    sweepAt = now + sweepEverySeconds * 1000
    await deps.store.sweepOperations(now - deps.limits.operationKeptSeconds * 1000, sweepRowsMax)
  }

  return {
    start() {
      running = true
      deps.store.onWork(() => void look())
      deps.faults?.onLoss((key) => void handleEvent(deps, key, look))
      for (const { reconcile } of deps.registry.types) {
        reconcile?.watchEvents?.((key) => {
          // Said at once: work under way that has looked already must look again.
          for (const lease of underway.keys()) if (lease.claim.key === key) lease.hasNewEvent = true
          void handleEvent(deps, key, look)
        }, closing.signal)
      }
      void look()
    },
    wake: () => void look(),
    counts: () => ({ running: underway.size, ...steps }),
    async idle() {
      for (;;) {
        await Promise.all(underway.values())
        const due = await deps.store.nextDue()
        // Claims that are still to be heard of make their work due no more.
        const isQuiet = underway.size === 0 && claiming === undefined
        if (isQuiet && (due === undefined || due > deps.clock.now())) return
        await new Promise<void>((resolve) => timers.after(5, resolve))
      }
    },
    async [Symbol.asyncDispose]() {
      running = false
      closing.abort()
      nap?.cancel()
      // Claims still to be heard of are worked on too, or they would be held until their leases end.
      while (claiming !== undefined || underway.size > 0) {
        await claiming
        await Promise.all(underway.values())
      }
    },
  }
}

/** The resource group that a key lies in; of other keys, the first scope. */
function groupKey(key: string): string {
  return key.split('/', key.includes('/resourcegroups/') ? 5 : 3).join('/')
}

/** An event of the engine: the resource becomes due now, if it is stored. */
async function handleEvent(
  deps: PlaneDependencies,
  key: string,
  look: () => Promise<void>,
): Promise<void> {
  try {
    await deps.store.transact(async (tx) => {
      // Locked, so that work which is ending either sees the event or ends before this is scheduled.
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

/** A fault of ours or the store's in background work: logged, tried again later, never a crash. */
async function fault(deps: PlaneDependencies, claim: Claim, error: unknown): Promise<void> {
  // A claim that another has now is his to work on, and a store that is away comes back.
  const isOurs = !(error instanceof StoreConflict || error instanceof StoreUnavailable)
  deps.log[isOurs ? 'error' : 'warn']({ key: claim.key, error }, 'background work failed')
  await deps.store
    .release(claim, deps.clock.now() + backOffMilliseconds(deps, claim.attempt), true)
    .catch(() => undefined)
}

/** Turns until there is nothing to do now, the lease renewed meanwhile. */
async function handle(deps: PlaneDependencies, lease: Lease, timers: Timers): Promise<void> {
  const { claim } = lease
  const everyMilliseconds = (deps.limits.leaseSeconds * 1000) / 3
  const renew = async (): Promise<void> => {
    const asked = deps.clock.now()
    const held = await deps.store
      .renew(claim, asked, deps.limits.leaseSeconds)
      .catch(() => undefined)
    // Without an answer it may be ours still, but no longer than until its end.
    if (held !== undefined) lease.until = held ? asked + deps.limits.leaseSeconds * 1000 : asked
    if (held !== false) timer = timers.after(everyMilliseconds, () => void renew())
  }
  let timer = timers.after(everyMilliseconds, () => void renew())
  try {
    for (let steps = 0; isHeld(deps, lease) && steps < stepsPerClaimMax; steps++) {
      if (!(await takeTurn(deps, lease))) return
    }
    await deps.store.release(claim, deps.clock.now(), false)
  } finally {
    timer.cancel()
  }
}
