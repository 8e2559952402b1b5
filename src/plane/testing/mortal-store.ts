/**
 * A store as seen by a process that dies at a moment of the test's choosing: from then on every call fails, and the
 * outcome of the call under way is unknown. The store itself lives on.
 */

import { type Store, StoreUnavailable, type Tx } from '#stores/store.ts'

interface MortalStore {
  readonly store: Store
  /** Dies after this many further steps: calls, calls inside transactions, and the answers of both. */
  dieAfter(steps: number): void
  readonly isDead: boolean
}

export function mortalStore(inner: Store): MortalStore {
  let left = Number.POSITIVE_INFINITY
  const step = (): void => {
    left--
    if (left < 0) throw new StoreUnavailable('this process is dead', 'later')
  }
  /** A call is one step before it is made and another after its answer. */
  const mortal =
    <A extends readonly unknown[], T>(call: (...values: A) => Promise<T>) =>
    async (...values: A): Promise<T> => {
      step()
      const value = await call(...values)
      step()
      return value
    }
  const mortalTx = (tx: Tx): Tx => ({
    get: mortal((key) => tx.get(key)),
    list: mortal((query) => tx.list(query)),
    count: mortal((query) => tx.count(query)),
    operation: mortal((id) => tx.operation(id)),
    runningOperation: mortal((key) => tx.runningOperation(key)),
    keyOfUnique: mortal((uniqueKey) => tx.keyOfUnique(uniqueKey)),
    listUnique: mortal((query) => tx.listUnique(query)),
    lock: mortal((key, mode) => tx.lock(key, mode)),
    insert: mortal((row) => tx.insert(row)),
    update: mortal((row, etag) => tx.update(row, etag)),
    remove: mortal((key, etag) => tx.remove(key, etag)),
    putOperation: mortal((row) => tx.putOperation(row)),
    schedule: mortal((key, dueAt) => tx.schedule(key, dueAt)),
    unschedule: mortal((key) => tx.unschedule(key)),
    record: mortal((event) => tx.record(event)),
    follow: mortal((feed, key) => tx.follow(feed, key)),
    position: mortal((feed) => tx.position(feed)),
    alone: mortal((name) => tx.alone(name)),
    assertClaim: mortal((claim) => tx.assertClaim(claim)),
    pause: () => tx.pause(),
  })
  return {
    dieAfter(steps) {
      left = steps
    },
    get isDead() {
      return left < 0
    },
    store: {
      dialect: inner.dialect,
      sql: inner.sql,
      replace: mortal((work) => inner.replace(work)) as Store['replace'],
      feed: (name) => inner.feed(name),
      onWork: (callback) => inner.onWork(callback),
      largeAt: (key) => inner.largeAt(key),
      get: mortal((key) => inner.get(key)),
      list: mortal((query) => inner.list(query)),
      count: mortal((query) => inner.count(query)),
      operation: mortal((id) => inner.operation(id)),
      keyOfUnique: mortal((uniqueKey) => inner.keyOfUnique(uniqueKey)),
      listUnique: mortal((query) => inner.listUnique(query)),
      runningOperation: mortal((key) => inner.runningOperation(key)),
      async transact(work, alone) {
        step()
        const value = await inner.transact((tx) => work(mortalTx(tx)), alone)
        step()
        return value
      },
      claimDue: mortal((owner, now, leaseSeconds, limit) =>
        inner.claimDue(owner, now, leaseSeconds, limit),
      ),
      renew: mortal((claim, now, leaseSeconds) => inner.renew(claim, now, leaseSeconds)),
      release: mortal((claim, dueAt, failed) => inner.release(claim, dueAt, failed)),
      nextDue: mortal(() => inner.nextDue()),
      hasten: mortal((now, latest) => inner.hasten(now, latest)),
      sweepOperations: mortal((before, limit) => inner.sweepOperations(before, limit)),
      ping: mortal(() => inner.ping()),
      [Symbol.asyncDispose]: async () => undefined,
    },
  }
}
