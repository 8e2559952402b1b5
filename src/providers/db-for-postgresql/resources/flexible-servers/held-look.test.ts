/** A registered server that holds the process which looks at it: what everybody else asks of the plane is answered. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startHostileServer } from '#engines/databases/testing/hostile-server.ts'
import {
  howToSeeProcesses,
  peerOf,
  seesProcesses,
  stateOf,
} from '#engines/databases/testing/processes.ts'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { until } from '../../../../../tests/until.ts'
import { openMigrationFixture, servers, target } from '../../testing/fixture.ts'

test('a look that holds its process holds up no other answer', async (t) => {
  if (!requireOrSkip(t, seesProcesses, howToSeeProcesses)) return
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using w = await openMigrationFixture()
  assert.equal((await w.register()).body.properties.state, 'Ready')
  const held: number[] = []
  await using hostile = await startHostileServer({
    atQuery(socket) {
      const pid = peerOf(socket)
      assert.ok(pid !== undefined && pid !== process.pid)
      process.kill(pid, 'SIGSTOP')
      held.push(pid)
    },
  })
  const { host, port, user } = hostile.address
  const properties = { fullyQualifiedDomainName: host, port, administratorLogin: user }
  const path = `${servers}/hostile`
  const put = await w.call('PUT', path, {
    location: 'here',
    properties: { ...properties, administratorLoginPassword: 'secret' },
  })
  assert.ok(put.status < 300, JSON.stringify(put.body))
  await until(() => held.some((pid) => stateOf(pid) === 'T'))
  // What needs no look, while the process stands still.
  assert.equal((await w.call('GET', target)).status, 200)
  assert.deepEqual(held.map(stateOf), ['T'])
  // What needs one: it waits for the watch, and is looked at by another process.
  assert.equal((await w.call('GET', `${target}/databases`)).status, 200)
  await until(() => held.length === 2)
  assert.equal((await w.call('GET', `${target}/databases`)).status, 200)
  const seen = await until(async () => {
    const { body } = await w.call('GET', path)
    return body.properties.provisioningState === 'Succeeded' && body
  })
  assert.notEqual(seen.properties.state, 'Ready')
  assert.equal(new Set(held).size, 2)
})
