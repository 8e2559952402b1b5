/** A server's own vacuum of a table gives way to whoever waits for the table long enough: we do. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { until } from '../../../../tests/until.ts'
import { findServer, howToGetServers, startServer } from '../testing/servers.ts'
import { connect } from './connect.ts'
import { restoreIdentities } from './replication.ts'

/** So that it takes minutes. */
const slowVacuum = {
  autovacuum_naptime: '1s',
  autovacuum_vacuum_cost_delay: '100ms',
  autovacuum_vacuum_cost_limit: '1',
}

test('a table that the server vacuums is altered all the same', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using server = await startServer(15, slowVacuum)
  const reach = { address: server.address, password: server.password, outbound: openWay }
  await using session = await connect(reach, { database: 'postgres', applicationName: 'test' })
  await session.run(`CREATE TABLE public.vacuumed (a int, t text); ALTER TABLE public.vacuumed REPLICA IDENTITY FULL;
    INSERT INTO public.vacuumed SELECT g, repeat('x', 500) FROM generate_series(1, 20000) g`)
  await session.run('UPDATE public.vacuumed SET a = a + 1')
  const vacuum = `SELECT pid FROM pg_stat_progress_vacuum WHERE relid = 'public.vacuumed'::regclass`
  await until(async () => (await session.value(vacuum)) !== undefined)
  const identities = [{ table: '"public"."vacuumed"', previous: 'd' }]
  const refused = await restoreIdentities(session, identities, {
    onWait: () => assert.fail('the lock was given back before the vacuum ended'),
  })
  assert.deepEqual(refused, [])
  const identity = "SELECT relreplident FROM pg_class WHERE oid = 'public.vacuumed'::regclass"
  assert.equal(await session.value(identity), 'd')
})
