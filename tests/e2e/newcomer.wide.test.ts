/**
 * A newcomer's first day, by command line and by API, on PostgreSQL with two replicas. `newcomer.test.ts` holds it on SQLite.
 */

import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import {
  assertRefused,
  createApplication,
  createResourceGroup,
  grant,
  revoke,
  roles,
} from './access.ts'
import {
  freshHome,
  type Installation,
  type InstallationOptions,
  startInstallation,
} from './installation.ts'
import { turns, walks } from './newcomer.ts'
import { refusedStart, rememberable, version } from './restarts.ts'

describe('PostgreSQL, two replicas', { timeout: 360_000 }, () => {
  let server: PostgresServer | undefined
  let a: Installation
  let b: Installation
  let options: InstallationOptions
  const homes = [freshHome(), freshHome(), freshHome()]
  const [homeA = '', homeB = '', homeC = ''] = homes

  before(async () => {
    if (findPostgres() === undefined) return
    server = await startPostgres({ fsync: false })
    // One address for both, as behind a load balancer.
    const environment = { ARMATURE_PUBLIC_URL: 'http://armature.example' }
    options = { store: await server.createDatabase(), environment }
    a = await startInstallation({ ...options, home: homeA })
    const key = readFileSync(join(homeA, 'installation.key'), 'utf8')
    const started = await startInstallation({ ...options, home: homeB, key })
    // The owner is the same; only the first home has the credentials.
    b = {
      ...started,
      request: (method, path, given) =>
        started.request(method, path, { token: a.ownerToken, ...given }),
    }
  })
  after(async () => {
    await a?.[Symbol.asyncDispose]()
    await b?.[Symbol.asyncDispose]()
    await server?.stop()
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  })

  test('a server to run on', (t) => {
    requireOrSkip(t, server !== undefined, howToGetPostgres)
  })

  if (findPostgres() === undefined) return
  walks(() => ({ a, b }))
  describe('the other way round', () => {
    test('a grant made on the second counts on the first', () => grantsAtOnce2(a, b))
  })

  test('they are one installation', () => {
    assert.equal(b.subscriptionId, a.subscriptionId)
    assert.equal(b.tenantId, a.tenantId)
    assert.equal(b.principalId, a.principalId)
    assert.doesNotMatch(b.output(), /First start/)
    for (const one of [a, b]) {
      assert.match(
        one.output(),
        /ready at http:\/\/armature\.example.*Listens at +http:\/\/127\.0\.0\.1:\d+/s,
      )
    }
  })

  test('the second is refused without the key, with another key, with other words', async () => {
    await refusedStart({ ...options, home: homeC }, /ARMATURE_KEY/)
    const key = Buffer.alloc(32, 7).toString('base64')
    await refusedStart({ ...options, home: homeC, key }, /another key/)
    const words = { ...options.environment, ARMATURE_VENDOR_NAMESPACE: 'Contoso' }
    await refusedStart({ ...options, home: homeC, environment: words }, /Contoso/)
  })

  test('passwords of the store are printed nowhere', () => {
    const password = new URL(options.store ?? '').password
    assert.notEqual(password, '')
    for (const one of [a, b]) assert.ok(!(one.output() + one.log()).includes(password))
  })

  test('one restarts while the other serves; nothing is lost', async () => {
    const check = await rememberable(a)
    await a.kill()
    const path = `/subscriptions/${a.subscriptionId}/resourceGroups/meanwhile`
    assert.equal((await createResourceGroup(b, path)).status, 201)
    a = await startInstallation({ ...options, home: homeA })
    await check(a)
    assert.equal((await a.request('GET', `${path}?${version}`)).status, 200)
  })
})

async function grantsAtOnce2(a: Installation, b: Installation): Promise<void> {
  const path = `/subscriptions/${a.subscriptionId}/resourceGroups/the-other-way`
  assert.equal((await createResourceGroup(b, path)).status, 201)
  const { principalId, token } = await createApplication(b, 'the other way')
  const read = () => a.request('GET', `${path}?${version}`, { token })
  for (let turn = 0; turn < turns; turn++) {
    const id = await grant(b, path, roles.reader, principalId)
    assert.equal((await read()).status, 200, `turn ${turn}: granted`)
    await revoke(b, id)
    assertRefused(await read(), 403, 'AuthorizationFailed')
  }
}
