/** A subscription that two sessions alter at the same moment is altered all the same. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { until } from '../../../../tests/until.ts'
import { findServer, howToGetServers, startServer } from '../testing/servers.ts'
import { connect } from './connect.ts'
import type { DatabaseTask } from './database-task.ts'
import { enableSubscription } from './replication.ts'

test('a subscription that is altered by another session at the same moment', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using server = await startServer(15)
  const { address, password } = server
  const session = (applicationName: string) =>
    connect({ address, password, outbound: openWay }, { database: 'postgres', applicationName })
  await using other = await session('other')
  await using own = await session('own')
  await other.run(
    "CREATE SUBSCRIPTION mig_raced_0 CONNECTION 'dbname=postgres' PUBLICATION p WITH (connect = false, slot_name = NONE)",
  )
  await other.run("ALTER SUBSCRIPTION mig_raced_0 SET (slot_name = 'raced')")
  await other.run('BEGIN; ALTER SUBSCRIPTION mig_raced_0 SET (binary = true)')
  const enabled = enableSubscription({ migration: 'raced', index: 0 } as DatabaseTask, own)
  const waits =
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'own' AND wait_event_type = 'Lock'"
  await using looking = await session('looking')
  await until(() => looking.value(waits))
  await other.run('COMMIT')
  await enabled
  const state = "SELECT subenabled FROM pg_subscription WHERE subname = 'mig_raced_0'"
  assert.equal(await looking.value(state), 'true')
  await other.run(
    'ALTER SUBSCRIPTION mig_raced_0 DISABLE; ALTER SUBSCRIPTION mig_raced_0 SET (slot_name = NONE); DROP SUBSCRIPTION mig_raced_0',
  )
})
