/** Two replicas on one PostgreSQL: what one has answered, the other applies at its next question. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import { nobody } from '#plane/testing/start.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { assignment, at, group, openInstallation, refused } from '../../testing/installation.ts'

const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
const rounds = 25

test('a revoked assignment stops granting on every replica before the revoking call is answered', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  const open = (): Promise<Store> =>
    openPostgres({
      url,
      poolSize: 4,
      clock: Date,
      migrations: [],
      words: contractWords,
      transactionRetriesMax: 8,
    })
  await using one = await openInstallation('implicit', await open())
  await using two = await openInstallation('implicit', await open())
  const options = { version: '2021-04-01' }
  await one.call('PUT', group, { location: 'local' }, options)
  const read = () => two.call('GET', group, undefined, { ...options, as: nobody })
  const path = at(group)
  const conditioned = { condition: '1 NumericEquals 1', conditionVersion: '2.0' }
  for (let round = 0; round < rounds; round++) {
    await refused(read(), 'AuthorizationFailed', 403)
    const extra = round % 2 === 0 ? {} : conditioned
    await one.call('PUT', path, assignment(nobody.id, reader, extra))
    assert.equal((await read()).status, 200)
    await one.call('DELETE', path)
  }
  await refused(read(), 'AuthorizationFailed', 403)
})
