/** Writes at the same moment, of two processes on one PostgreSQL. On SQLite there are none. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { ApiError } from '#kernel/error.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { defineProvider, type Provider } from './declare/provider.ts'
import { defineStored, type StoredMembers } from './declare/stored.ts'
import { startPlane } from './testing/start.ts'

interface Seat {
  readonly side: string
}

const limit = 3
const full = new ApiError('TooMany', 409, 'There is no more room.')

/** Seats have room for three. */
const seats: StoredMembers<Seat> = {
  type: 'Meeting/seats',
  description: 'Seats.',
  scope: 'tenant',
  name: { pattern: /^\w+$/, rule: 'word characters' },
  versions: [
    {
      date: '2024-01-01',
      body: Type.Object({ properties: Type.Object({ side: Type.String() }) }),
      answer: Type.Object({}),
      unknownProperties: 'ignore',
      toModel: (body: { properties: Seat }) => body.properties,
      fromModel: (model) => ({ properties: model }),
    },
  ],
  async rules({ reader, previous }) {
    if (previous !== undefined) return []
    if (await reader.hasRoom({ type: 'Meeting/seats', under: '/', limit })) return []
    throw full
  },
}

/** Of speakers, of whom each looks at all the others, there is one on each side. */
const speakers: StoredMembers<Seat> = {
  ...seats,
  type: 'Meeting/speakers',
  feed: 'meeting',
  async rules({ desired, reader }) {
    const others = await reader.list({ type: 'Meeting/speakers', under: '/', limit: 100 })
    // The type's `toModel` made the rows.
    if (others.some(({ model }) => (model as Seat).side === desired.side)) throw full
    return []
  },
}

const meeting: Provider = defineProvider({
  namespace: 'Meeting',
  description: 'What has room for few.',
  types: [defineStored(seats), defineStored(speakers)],
})

test('of many at the same moment no more come in than there is room for', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  const open = (): Promise<Store> =>
    openPostgres({
      ...{ url, poolSize: 6, clock: Date, migrations: [], words: contractWords },
      transactionRetriesMax: 8,
    })
  await using one = await open()
  await using two = await open()
  // As many connections as there will be requests: a busy machine takes seconds to make them.
  await Promise.all([one, two].flatMap((store) => Array.from({ length: 6 }, () => store.ping())))
  await using here = await startPlane({ store: one, providers: [meeting], reconcile: false })
  await using there = await startPlane({ store: two, providers: [meeting], reconcile: false })
  async function admitted(type: string): Promise<number> {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? here : there).call('PUT', `/providers/Vendor.Meeting/${type}/n${n}`, {
          properties: { side: 'left' },
        }),
      ),
    )
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.equal(outcome.reason, full)
    }
    return outcomes.filter(({ status }) => status === 'fulfilled').length
  }
  assert.equal(await admitted('seats'), limit)
  assert.equal(await admitted('speakers'), 1)
})
