/**
 * The request fuzzer over every route of the real providers, on a started server, on both stores: what one store
 * accepts (a zero character, half a surrogate, a number too large) the other may not. `ARMATURE_TEST_FUZZ_SEED`
 * repeats a run, `ARMATURE_TEST_FUZZ_COUNT` makes it longer. The ordinary suite has one seed, so that it fails only
 * because of a change.
 */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { declaredTable } from '../../tools/generate/declared-table.ts'
import { fuzzRequests } from '../fuzz/requests.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { startInstallation } from './installation.ts'

const usual = isLong
  ? { seed: Date.now() % 1_000_000, count: 6000 }
  : { seed: 261_122, count: 1500 }
const seed = Number(process.env['ARMATURE_TEST_FUZZ_SEED'] ?? usual.seed)
const count = Number(process.env['ARMATURE_TEST_FUZZ_COUNT'] ?? usual.count)
const options = { timeout: 600_000 }

test(`no request makes a server on SQLite fail (seed ${seed})`, options, (t) => holds(t, count))

test(`no request makes a server on PostgreSQL fail (seed ${seed})`, options, async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  // The same requests: the store contract holds how each store treats them.
  await holds(t, isLong ? count : Math.ceil(count / 3), await server.createDatabase())
})

async function holds(t: TestContext, count: number, store?: string): Promise<void> {
  await using installation = await startInstallation({
    ...(store === undefined ? {} : { store }),
    environment: { ARMATURE_CONTAINERS: 'simulated', ARMATURE_LOG_LEVEL: 'error' },
  })
  const report = await fuzzRequests({
    url: installation.url,
    token: installation.ownerToken,
    subscriptionId: installation.subscriptionId,
    routes: declaredTable().routes,
    seed,
    count,
    secondsMax: 120,
  })
  t.diagnostic(`seed ${seed}: ${report.sent} requests, ${JSON.stringify(report.statuses)}`)
  assert.deepEqual(report.findings, [])
  assert.equal(installation.log(), '', 'a fault was logged')
  // All kinds of answers, including successful writes: most generated ones are refused.
  for (const sort of [['200'], ['201', '204'], ['400'], ['401'], ['404'], ['405']]) {
    const answers = sort.reduce((sum, status) => sum + (report.statuses[status] ?? 0), 0)
    assert.ok(report.sent < 1000 || answers > 0, `no answer was ${sort.join(' or ')}`)
  }
}
