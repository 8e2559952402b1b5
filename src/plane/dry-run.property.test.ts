/** A dry run over a store gives what a transaction of that store would, and leaves the store unchanged. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractRow } from '#stores/contract/setting.ts'
import { StoreConflict, type Tx } from '#stores/store.ts'
import { fc, runsOf } from '../../tests/property.ts'
import { DryRun } from './dry-run.ts'
import { memoryStore } from './testing/start.ts'

const keys = ['/a', '/a/b', '/a/b/c', '/a-b', '/b', '/\u{1f600}']
const types = ['t', 'u']
const key = fc.constantFrom(...keys)
const row = fc.record({
  key,
  type: fc.constantFrom(...types),
  tracked: fc.boolean(),
  uniqueKey: fc.constantFrom(null, null, 'one', 'two'),
  etag: fc.constantFrom('e1', 'e2'),
})
const step = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), row }),
  fc.record({ kind: fc.constant('update' as const), row, etag: fc.constantFrom('e1', 'e2') }),
  fc.record({ kind: fc.constant('remove' as const), key, etag: fc.constantFrom('e1', 'e2') }),
  fc.record({
    kind: fc.constant('operation' as const),
    id: fc.constantFrom('o1', 'o2'),
    key,
    running: fc.boolean(),
  }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function carryOut(tx: Tx, one: Step): Promise<void> {
  if (one.kind === 'insert') await tx.insert(contractRow(one.row.key, one.row))
  else if (one.kind === 'update') await tx.update(contractRow(one.row.key, one.row), one.etag)
  else if (one.kind === 'remove') await tx.remove(one.key, one.etag)
  else {
    const { id, key: resourceKey, running } = one
    const endedAt = running ? null : 1
    // A resource has at most one running operation.
    if (running && (await tx.runningOperation(resourceKey)) !== undefined) return
    await tx.putOperation({ id, resourceKey, document: '{}', running, endedAt })
  }
}

async function all(tx: Tx, steps: readonly Step[]): Promise<void> {
  for (const one of steps) await carryOut(tx, one)
}

async function seen(tx: Tx): Promise<unknown> {
  const queries = ['/', '/a', '/a/b'].flatMap((under) => [
    { under },
    { under, type: 't' },
    { under, tracked: true },
    { under, after: '/a/b' },
  ])
  const lists: unknown[] = []
  for (const query of queries) {
    for (const limit of [2, 9]) {
      lists.push((await tx.list({ ...query, limit })).map((one) => [one.key, one.etag]))
      const { after: _none, ...counted } = { after: undefined, ...query }
      lists.push(await tx.count({ ...counted, limit }))
    }
  }
  const running = await Promise.all(keys.map(async (one) => (await tx.runningOperation(one))?.id))
  const unique = [await tx.keyOfUnique('one'), await tx.keyOfUnique('two')]
  const begun: unknown[] = []
  for (const query of [{ prefix: 'o' }, { prefix: 't' }, { prefix: 'o', after: 'one' }]) {
    begun.push(
      await tx.listUnique({ ...query, limit: 1 }),
      await tx.listUnique({ ...query, limit: 9 }),
    )
  }
  return { lists, running, unique, begun, one: await tx.get('/a/b') }
}

class Undone extends Error {}

test('what was tried is seen as written, and nothing of it stays', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 6 }),
      // Each group is kept or taken back as a whole, as the writes of one PUT are.
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 8 }),
      async (before, groups) => {
        await using store = await memoryStore()
        const within = (one: Step): Promise<void> =>
          store.transact((tx) => carryOut(tx, one)).catch(passConflict)
        for (const one of before) await within(one)
        const untouched = await store.transact(seen)

        const rows = new DryRun(store)
        const done: Step[] = []
        for (const group of groups) {
          const isDone = await all(rows, group).then(() => true, passConflict)
          if (isDone === true) {
            rows.keep()
            done.push(...group)
          } else rows.takeBack()
        }
        const tried = await seen(rows)
        assert.deepEqual(await store.transact(seen), untouched)

        let real: unknown
        const writing = store.transact(async (tx) => {
          await all(tx, done)
          real = await seen(tx)
          throw new Undone()
        })
        await assert.rejects(writing, Undone)
        assert.deepEqual(tried, real)
      },
    ),
    { numRuns: runsOf(150) },
  )
})

function passConflict(error: unknown): undefined {
  if (error instanceof StoreConflict) return undefined
  throw error
}
