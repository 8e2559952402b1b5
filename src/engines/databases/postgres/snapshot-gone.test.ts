/** A copy whose snapshot went with a crash of the source begins anew, whichever of its sessions learns of the crash first. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { findServer, howToGetServers, startServer } from '../testing/servers.ts'
import { connect, isTransient } from './connect.ts'

for (const version of [15, 18] as const) {
  test(`a snapshot that is gone is no lasting fault: ${version}`, async (t) => {
    if (version !== 15 && findServer(version) === undefined) return
    if (!requireOrSkip(t, findServer(version) !== undefined, howToGetServers)) return
    await using server = await startServer(version)
    const reach = { address: server.address, password: server.password, outbound: openWay }
    await using session = await connect(reach, { database: 'postgres', applicationName: 'test' })
    await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await assert.rejects(session.run("SET TRANSACTION SNAPSHOT '00000004-0000005B-1'"), isTransient)
    await session.run('ROLLBACK')
    await assert.rejects(
      session.run('SELECT 1 FROM pg_catalog.no_such_table'),
      (error) => !isTransient(error),
    )
  })
}
