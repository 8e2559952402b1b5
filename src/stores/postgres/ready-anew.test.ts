/** A transaction that is alone and ready first, beside one of another name that moves what it was decided by. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { requireOrSkip } from '../../../tests/require.ts'
import { contractOptions } from '../contract/setting.ts'
import type { EventRow, FeedPositions, Store } from '../store.ts'
import { findPostgres, howToGetPostgres, preparedDatabases } from '../testing/postgres-server.ts'
import { openPostgres } from './open.ts'

const open = (url: string): Promise<Store> =>
  openPostgres({ url, poolSize: 4, clock: Date, ...contractOptions })
const databases = preparedDatabases(async (url) => (await open(url))[Symbol.asyncDispose]())

const event: EventRow = {
  at: 1,
  key: '/a',
  action: 'write',
  status: 'Succeeded',
  principalId: 'p',
  caller: 'p',
  correlationId: 'c',
  operationId: null,
  subscription: '',
  detail: '{}',
}

async function replicas(t: TestContext): Promise<readonly [Store, Store] | undefined> {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return undefined
  const url = await databases.create()
  const both = [await open(url), await open(url)] as const
  t.after(async () => {
    for (const one of both) await one[Symbol.asyncDispose]()
    await databases.stop()
  })
  return both
}

test('it is ready anew where the other feed moves on before its record, three times at most', async (t) => {
  const both = await replicas(t)
  if (both === undefined) return
  const [one, two] = both
  for (const [moves, times] of [
    [0, 1],
    [1, 2],
    [9, 4],
  ] as const) {
    let readied = 0
    let asOf: FeedPositions | undefined
    await one.transact(
      async (tx) => {
        // As long as it waits for a row.
        if (readied <= moves) await two.transact((other) => other.follow('others', '/b'), 'others')
        await tx.follow('own', '/a')
        await tx.record(event)
      },
      {
        name: 'own',
        async ready() {
          readied++
          asOf = { others: await two.feed('others').position() }
        },
        asOf: () => asOf,
      },
    )
    assert.equal(readied, times)
  }
})
