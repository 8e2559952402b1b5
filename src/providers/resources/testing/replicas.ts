/** Two planes on one store, as two replicas are, which take turns. */

import { memoryStore } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { until } from '../../../../tests/until.ts'
import { openSeal } from './killed.ts'
import { type Started, startDeployments } from './start.ts'

export interface Replica {
  /** It takes no work. */
  isPaused: boolean
  readonly t: Started
  /** Work on these keys waits. */
  readonly left: Set<string>
  /** Wakes this work, and waits until this replica has done what is due of it. */
  look(path: string): Promise<void>
}

interface Replicas extends AsyncDisposable {
  readonly store: Store
  readonly one: Replica
  readonly other: Replica
}

const leftMilliseconds = 100

async function startReplica(inner: Store): Promise<Replica> {
  const state = { isPaused: false }
  const left = new Set<string>()
  const taken = new Map<string, number>()
  const claimDue: Store['claimDue'] = async (...given) => {
    if (state.isPaused) return []
    const claims = await inner.claimDue(...given)
    const own: (typeof claims)[number][] = []
    for (const claim of claims) {
      const { key } = claim
      if (left.has(key)) await inner.release(claim, Date.now() + leftMilliseconds, false)
      else own.push(claim)
    }
    for (const { key } of own) taken.set(key, (taken.get(key) ?? 0) + 1)
    return own
  }
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = name === 'claimDue' ? claimDue : Reflect.get(target, name)
      // Stores have private members, so their methods are bound to them.
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const t = await startDeployments({ store, seal: openSeal })
  return Object.assign(state, {
    t,
    left,
    async look(path: string) {
      const key = path.toLowerCase()
      const before = taken.get(key) ?? 0
      await inner.transact((tx) => tx.schedule(key, Date.now()))
      t.plane.reconciler.wake()
      await until(() => (taken.get(key) ?? 0) > before)
      await t.plane.reconciler.idle()
    },
  })
}

export async function startReplicas(): Promise<Replicas> {
  const store = await memoryStore()
  const one = await startReplica(store)
  const other = await startReplica(store)
  return {
    store,
    one,
    other,
    async [Symbol.asyncDispose]() {
      for (const { t } of [one, other]) await t[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}
