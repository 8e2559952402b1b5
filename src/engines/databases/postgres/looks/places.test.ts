/** Many servers of one owner that hold up whoever looks at them leave places for others. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { openOutbound } from '#outbound/outbound.ts'
import { openSettings } from '#outbound/policy.ts'
import { message, startHostileServer } from '../../testing/hostile-server.ts'
import { LooksProcess, type SentCall } from './looks-process.ts'
import { Places } from './places.ts'

function openPlaces(t: TestContext): Places {
  const outbound = openOutbound({
    settings: openSettings,
    log: silentLog,
    resolve: async () => ['127.0.0.1'],
  })
  const bounds = { roomMegabytes: 96, heapMegabytes: 512, residentMegabytes: 768 }
  const places = new Places(() => new LooksProcess({ outbound, bounds, onLost: () => undefined }))
  t.after(() => places[Symbol.asyncDispose]())
  return places
}

function callFor(owner: string, port: number): SentCall {
  const address = { host: 'server.test', port, user: 'u', sslMode: 'prefer' } as const
  return {
    owner,
    call: { name: 'inspect', values: [{ address, password: 'secret' }] },
    servers: [address],
    now: Date.now(),
  }
}

test('servers of one owner that do not answer leave a place for that of another', async (t) => {
  const silent = await startHostileServer({ atQuery: () => undefined })
  await using _silent = silent
  const other = await startHostileServer({
    atQuery: (socket) => socket.write(message('E', 'SERROR\0CXX000\0Mits own words\0\0')),
  })
  await using _other = other
  const places = openPlaces(t)
  let ended = 0
  const held = Array.from({ length: 12 }, async (_, at) => {
    await places.call(`silent ${at}`, callFor('many', silent.address.port))
    ended++
  })
  const ending = await places.call('other', callFor('one', other.address.port))
  assert.match(JSON.stringify(ending), /its own words/)
  assert.equal(ended, 0)
  await places[Symbol.asyncDispose]()
  await Promise.all(held)
})
