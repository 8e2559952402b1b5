/** A short simulation of each store. `npm run simulate` runs for as long as you like. */

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { findPostgres, howToGetPostgres } from '#stores/testing/postgres-server.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import type { StoreKind } from './fixture.ts'
import { simulate } from './simulation.ts'

async function short(store: StoreKind, rounds: number): Promise<void> {
  const report = await simulate({
    seed: isLong ? randomInt(2 ** 31) : 1,
    store,
    roundsMax: rounds,
    secondsMax: 600,
    writers: 6,
    say: () => undefined,
  })
  assert.equal(report.rounds, rounds)
  assert.ok(report.acknowledged > 0, 'nothing was written')
}

test('SQLite keeps every promise through kills', () => short('sqlite', isLong ? 3 : 2))

test('PostgreSQL with two replicas keeps every promise through kills and crashes', async (t) => {
  if (requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) await short('postgres', 3)
})
