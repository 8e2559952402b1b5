/**
 * A newcomer's first day, by command line and by API: start, grant one application the right to read one resource
 * group, see it refused everywhere else. On SQLite, and on PostgreSQL with two replicas.
 */

import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
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
  addMember,
  assertRefused,
  createApplication,
  createGroup,
  createResourceGroup,
  createUser,
  grant,
  revoke,
  roles,
} from './access.ts'
import {
  clientToken,
  freshHome,
  type Installation,
  type InstallationOptions,
  StartRefused,
  startInstallation,
} from './installation.ts'
import { turns, walks } from './newcomer.ts'

const version = 'api-version=2021-04-01'

async function refusedStart(options: InstallationOptions, ...words: RegExp[]): Promise<void> {
  const error = await startInstallation(options).then(
    async (started) => {
      await started[Symbol.asyncDispose]()
      assert.fail('it started')
    },
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof StartRefused, String(error))
  assert.equal(error.code, 1, error.output)
  for (const word of words) assert.match(error.output, word)
  assert.doesNotMatch(error.output, /^\s+at /m, 'a message for people, not a stack')
}

/** Creates what must exist after a restart. The returned function checks it. */
async function rememberable(a: Installation) {
  const path = `/subscriptions/${a.subscriptionId}/resourceGroups/kept`
  assert.equal((await createResourceGroup(a, path)).status, 201)
  const application = await createApplication(a, 'kept')
  const [user, team] = [await createUser(a, `kept-${Date.now()}`), await createGroup(a, 'kept')]
  await addMember(a, team, user)
  const assignment = await grant(a, path, roles.reader, application.principalId)
  const before = await a.request('GET', `${assignment}?api-version=2022-04-01`)
  return async (restarted: Installation): Promise<void> => {
    assert.equal(restarted.tenantId, a.tenantId)
    assert.equal(restarted.subscriptionId, a.subscriptionId)
    const afterwards = await restarted.request('GET', `${assignment}?api-version=2022-04-01`)
    assert.deepEqual(afterwards.body, before.body)
    const token = await clientToken(restarted.url, application)
    const read = await restarted.request('GET', `${path}?${version}`, { token })
    assert.equal(read.status, 200, read.text)
    const members = await restarted.request('GET', `/directory/groups/${team}/members`)
    assert.deepEqual(
      members.items().map((item) => item['id']),
      [user],
    )
  }
}

describe('SQLite', { timeout: 360_000 }, () => {
  const home = freshHome()
  let installation: Installation
  before(async () => {
    installation = await startInstallation({ home })
  })
  after(async () => {
    await installation[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true })
  })

  walks(() => ({ a: installation, b: installation }))

  test('a second process on the same home is refused, and the first goes on', async () => {
    await refusedStart({ home }, /in use by another process/, /PostgreSQL/)
    assert.ok(existsSync(join(home, 'running.json')), 'the note of the one that runs stays')
    assert.equal((await installation.cli(['status', '--json'])).code, 0)
    assert.equal((await installation.request('GET', '/readyz')).status, 200)
  })

  test('a restart keeps everything: after SIGTERM, and after SIGKILL', async () => {
    const check = await rememberable(installation)
    assert.equal(await installation.stop(), 0)
    assert.ok(!existsSync(join(home, 'running.json')))
    installation = await startInstallation({ home })
    assert.doesNotMatch(installation.output(), /First start/)
    await check(installation)
    const checkAgain = await rememberableAfterCrash(installation)
    await installation.kill()
    installation = await startInstallation({ home })
    await check(installation)
    await checkAgain(installation)
  })

  test('other words, another key, no key: refused, each with what to do', async () => {
    await installation.stop()
    const words = { ARMATURE_VENDOR_NAMESPACE: 'Contoso' }
    await refusedStart({ home, environment: words }, /Vendor/, /Contoso/)
    await refusedStart({ home, environment: { ARMATURE_VENDOR_BRAND: 'Fabrikam' } }, /Fabrikam/)
    const key = Buffer.alloc(32, 7).toString('base64')
    await refusedStart({ home, key }, /another key/, /ARMATURE_KEY/)
    const path = join(home, 'installation.key')
    const content = readFileSync(path)
    rmSync(path)
    await refusedStart({ home }, /installation\.key/, /ARMATURE_KEY/)
    // The key may be given by a setting instead of the file.
    installation = await startInstallation({ home, key: content.toString() })
    assert.equal((await installation.request('GET', '/readyz')).status, 200)
  })
})

async function rememberableAfterCrash(installation: Installation) {
  const path = `/subscriptions/${installation.subscriptionId}/resourceGroups/crash`
  const names = Array.from({ length: 50 }, (_, at) => `${path}-${at}`)
  const made = await Promise.all(names.map((name) => createResourceGroup(installation, name)))
  for (const answer of made) assert.equal(answer.status, 201, answer.text)
  return async (restarted: Installation): Promise<void> => {
    for (const name of names) {
      assert.equal((await restarted.request('GET', `${name}?${version}`)).status, 200)
    }
  }
}

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
