/**
 * The store as the rest of the process gets it. Before a transaction begins, the process knows which key seals.
 * Everything a transaction writes is sealed with that key, however old the text is.
 */

import type { Sql, SqlTx, SqlValue, Store, Tx } from '#stores/store.ts'

export interface WriteGuard {
  /** Waits while this process may not know which key seals. Throws `StoreUnavailable` when it cannot find out. */
  ready(): Promise<void> | undefined
  /** Whether written values must be searched for sealed text. */
  readonly reseals: boolean
  /** Yields where the work may pause. */
  resealing(text: string): Generator<void, string>
}

export function guardStore(store: Store, guard: WriteGuard): Store {
  const enter = async <T>(begin: () => Promise<T>): Promise<T> => {
    await guard.ready()
    return begin()
  }
  const transact: Store['transact'] = (work, alone) =>
    store.transact((tx) => work(guard.reseals ? guardTx(tx, guard) : tx), alone)
  const transactSql: Sql['transact'] = (work, alone) =>
    store.sql.transact((tx) => work(guard.reseals ? guardSqlTx(tx, guard) : tx), alone)
  const sql: Sql = {
    dialect: store.dialect,
    all: (text, ...values) => store.sql.all(text, ...values),
    scan: (text, ...values) => store.sql.scan(text, ...values),
    snapshot: (work) => store.sql.snapshot(work),
    transact: (work, alone) =>
      guard.ready() === undefined
        ? transactSql(work, alone)
        : enter(() => transactSql(work, alone)),
  }
  return {
    dialect: store.dialect,
    sql,
    transact: (work, alone) =>
      guard.ready() === undefined ? transact(work, alone) : enter(() => transact(work, alone)),
    largeAt: (key) => store.largeAt(key),
    get: (key) => store.get(key),
    list: (query) => store.list(query),
    count: (query) => store.count(query),
    keyOfUnique: (unique) => store.keyOfUnique(unique),
    listUnique: (query) => store.listUnique(query),
    operation: (id) => store.operation(id),
    runningOperation: (key) => store.runningOperation(key),
    // The texts of a state were sealed when it was saved, with the key that still seals.
    replace: (work) => store.replace(work),
    feed: (name) => store.feed(name),
    claimDue: (owner, now, leaseSeconds, limit) => store.claimDue(owner, now, leaseSeconds, limit),
    renew: (claim, now, leaseSeconds) => store.renew(claim, now, leaseSeconds),
    release: (claim, dueAt, failed) => store.release(claim, dueAt, failed),
    nextDue: () => store.nextDue(),
    onWork: (callback) => store.onWork(callback),
    hasten: (now, latest) => store.hasten(now, latest),
    sweepOperations: (before, limit) => store.sweepOperations(before, limit),
    ping: () => store.ping(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

function guardTx(tx: Tx, guard: WriteGuard): Tx {
  const resealed = <R extends { readonly document: string }, T>(
    row: R,
    write: (row: R) => Promise<T>,
  ): Promise<T> => {
    const steps = guard.resealing(row.document)
    const first = steps.next()
    // In the order of the calls, but for what takes long.
    if (first.done === true) return write({ ...row, document: first.value })
    return rest(steps, tx).then((document) => write({ ...row, document }))
  }
  return {
    get: (key) => tx.get(key),
    list: (query) => tx.list(query),
    count: (query) => tx.count(query),
    keyOfUnique: (unique) => tx.keyOfUnique(unique),
    listUnique: (query) => tx.listUnique(query),
    operation: (id) => tx.operation(id),
    runningOperation: (key) => tx.runningOperation(key),
    lock: (key, mode) => tx.lock(key, mode),
    insert: (row) => resealed(row, (one) => tx.insert(one)),
    update: (row, etag) => resealed(row, (one) => tx.update(one, etag)),
    remove: (key, etag) => tx.remove(key, etag),
    putOperation: (row) => resealed(row, (one) => tx.putOperation(one)),
    schedule: (key, dueAt) => tx.schedule(key, dueAt),
    unschedule: (key) => tx.unschedule(key),
    record: (event) => tx.record({ ...event, detail: atOnce(guard.resealing(event.detail)) }),
    follow: (feed, key) => tx.follow(feed, key),
    position: (feed) => tx.position(feed),
    alone: (name) => tx.alone(name),
    assertClaim: (claim) => tx.assertClaim(claim),
    pause: () => tx.pause(),
  }
}

async function rest(steps: Generator<void, string>, tx: Pick<Tx, 'pause'>): Promise<string> {
  for (;;) {
    await tx.pause()
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** For texts with a bound of their own. */
function atOnce(steps: Generator<void, string>): string {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

function guardSqlTx(tx: SqlTx, guard: WriteGuard): SqlTx {
  const reseal = (value: SqlValue): SqlValue =>
    typeof value === 'string' ? atOnce(guard.resealing(value)) : value
  return {
    all: (text, ...values) => tx.all(text, ...values.map(reseal)),
    run: (text, ...values) => tx.run(text, ...values.map(reseal)),
    send: (text, ...values) => tx.send(text, ...values.map(reseal)),
    prefetch: (text, ...values) => tx.prefetch(text, ...values.map(reseal)),
    follow: (feed, key) => tx.follow(feed, key),
    record: (event) => tx.record({ ...event, detail: atOnce(guard.resealing(event.detail)) }),
  }
}
