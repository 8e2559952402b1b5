/**
 * What a newcomer does on the first day, by command line and by API: start, grant one application the right to
 * read one resource group, see it refused everywhere else. On SQLite, and on PostgreSQL with two replicas.
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
  removeMember,
  revoke,
  roles,
} from './access.ts'
import {
  askToken,
  clientToken,
  freshHome,
  type Installation,
  type InstallationOptions,
  StartRefused,
  startInstallation,
} from './installation.ts'

/** One installation: `a` and `b` are two processes of it, or the same one twice. */
interface Replicas {
  readonly a: Installation
  readonly b: Installation
}

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

async function byCommandLine({ a }: Replicas): Promise<void> {
  const succeeds = async (...words: string[]): Promise<string> => {
    const { code, out, error } = await a.cli(words)
    assert.equal(code, 0, `${words.join(' ')}: ${error}${out}`)
    return out
  }
  const parsed = async (...words: string[]) =>
    JSON.parse(await succeeds(...words)) as Readonly<Record<string, string>>
  const status = await parsed('status', '--json')
  assert.deepEqual(status, {
    url: a.publicUrl,
    httpUrl: a.url,
    tenantId: a.tenantId,
    subscriptionId: a.subscriptionId,
    principalId: a.principalId,
  })
  const subscription = `/subscriptions/${status['subscriptionId']}`
  for (const name of ['mine', 'theirs']) await succeeds('resource-group', 'create', name)
  const ci = await parsed('principal', 'create', '--type=ServicePrincipal', '--name=ci', '--json')
  const team = await parsed('principal', 'create', '--type=Group', '--name=readers', '--json')
  await succeeds('group', 'add-member', team['principalId'] ?? '', ci['principalId'] ?? '')
  const scope = `${subscription}/resourceGroups/mine`
  const grantWords = ['--role=Reader', `--scope=${scope}`, `--assignee=${team['principalId']}`]
  await succeeds('role', 'assignment', 'create', ...grantWords)
  const secret = [`--client-id=${ci['clientId']}`, `--client-secret=${ci['clientSecret']}`]
  const token = (await succeeds('token', ...secret)).trim()
  const asCi = (method: string, path: string, ...more: string[]) =>
    a.cli(['rest', method, `${path}?${version}`, `--token=${token}`, ...more])
  const read = await asCi('GET', scope)
  assert.equal(read.code, 0, read.error)
  assert.equal(JSON.parse(read.out).name, 'mine')
  const refusals = [
    await asCi('GET', `${subscription}/resourceGroups/theirs`),
    await asCi('GET', `${subscription}/resourceGroups/no-such-group`),
    await asCi('PUT', scope, '--body={"location":"local"}'),
    await asCi('DELETE', scope),
  ]
  for (const refusal of refusals) {
    assert.equal(refusal.code, 1)
    assert.equal(refusal.error, 'HTTP 403\n')
    assert.equal(JSON.parse(refusal.out).error.code, 'AuthorizationFailed')
  }
}

async function byApi({ a, b }: Replicas): Promise<void> {
  const subscription = `/subscriptions/${a.subscriptionId}`
  const [mine, theirs] = ['api-mine', 'api-theirs'].map(
    (n) => `${subscription}/resourceGroups/${n}`,
  )
  assert.ok(mine !== undefined && theirs !== undefined)
  for (const path of [mine, theirs]) assert.equal((await createResourceGroup(a, path)).status, 201)
  const application = await createApplication(a, 'api ci')
  const { token } = application
  const ask = (method: string, path: string) =>
    b.request(method, `${path}?${version}`, {
      token,
      ...(method === 'GET' ? {} : { body: { location: 'local' } }),
    })
  assertRefused(await ask('GET', mine), 403, 'AuthorizationFailed')
  await grant(a, mine, roles.reader, application.principalId)
  const read = await ask('GET', mine)
  assert.equal(read.status, 200, read.text)
  assert.equal(read.at('name'), 'api-mine')
  assertRefused(await ask('GET', theirs), 403, 'AuthorizationFailed')
  assertRefused(await ask('PUT', mine), 403, 'AuthorizationFailed')
  assertRefused(await ask('DELETE', mine), 403, 'AuthorizationFailed')
  const listed = await b.request('GET', '/subscriptions?api-version=2020-01-01', { token })
  assert.deepEqual(listed.items(), [], 'a right on a group shows no subscription')
}

/** Often, and under load: a copy that is only almost fresh shows sooner or later. */
const turns = 12

async function grantsAtOnce({ a, b }: Replicas): Promise<void> {
  const path = `/subscriptions/${a.subscriptionId}/resourceGroups/at-once`
  assert.equal((await createResourceGroup(a, path)).status, 201)
  const { principalId, token } = await createApplication(a, 'at once')
  const read = () => b.request('GET', `${path}?${version}`, { token })
  await underLoad(b, path, async () => {
    for (let turn = 0; turn < turns; turn++) {
      const id = await grant(a, path, roles.reader, principalId)
      assert.equal((await read()).status, 200, `turn ${turn}: granted`)
      await revoke(a, id)
      assertRefused(await read(), 403, 'AuthorizationFailed')
    }
  })
}

async function membershipsAtOnce({ a, b }: Replicas): Promise<void> {
  const path = `/subscriptions/${a.subscriptionId}/resourceGroups/membership`
  assert.equal((await createResourceGroup(a, path)).status, 201)
  const { principalId, token } = await createApplication(a, 'member')
  const [inner, outer] = [await createGroup(a, 'inner'), await createGroup(a, 'outer')]
  await addMember(a, outer, inner)
  await grant(a, path, roles.reader, outer)
  const read = () => b.request('GET', `${path}?${version}`, { token })
  await underLoad(b, path, async () => {
    for (let turn = 0; turn < turns; turn++) {
      assertRefused(await read(), 403, 'AuthorizationFailed')
      await addMember(a, inner, principalId)
      assert.equal((await read()).status, 200, `turn ${turn}: a member of a member`)
      if (turn % 2 === 0) await removeMember(a, inner, principalId)
      else {
        await removeMember(a, outer, inner)
        assertRefused(await read(), 403, 'AuthorizationFailed')
        await removeMember(a, inner, principalId)
        await addMember(a, outer, inner)
      }
    }
  })
}

async function disabledAtOnce({ a, b }: Replicas): Promise<void> {
  const { principalId, clientId, clientSecret, ...made } = await createApplication(a, 'disabled')
  let { token } = made
  const path = `/directory/servicePrincipals/${principalId}`
  const set = (enabled: boolean) => a.request('PATCH', path, { body: { enabled } })
  const read = () => b.request('GET', '/subscriptions?api-version=2020-01-01', { token })
  for (let turn = 0; turn < turns; turn++) {
    assert.equal((await read()).status, 200)
    assert.equal((await set(false)).status, 200)
    const refused = await read()
    assertRefused(refused, 401, 'InvalidAuthenticationToken')
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer .*error="invalid_token"/)
    if (turn === 0) {
      const none = await askToken(b.url, { clientId, clientSecret })
      assert.equal(none.at('error'), 'invalid_client', none.text)
    }
    assert.equal((await set(true)).status, 200)
    // What was taken away stays away: the old token does not come back, a new one is asked for.
    assertRefused(await read(), 401, 'InvalidAuthenticationToken')
    token = await clientToken(b.url, { clientId, clientSecret })
  }
  assert.equal((await read()).status, 200)
  assert.equal((await a.request('DELETE', path)).status, 204)
  assertRefused(await read(), 401, 'InvalidAuthenticationToken')
}

async function keysAtOnce({ a, b }: Replicas): Promise<void> {
  const credentials = await createApplication(a, 'rotated')
  const ask = (token: string) =>
    b.request('GET', '/subscriptions?api-version=2020-01-01', { token })
  assert.equal((await ask(credentials.token)).status, 200)
  assert.equal((await a.request('POST', '/directory/keys/rotate')).status, 200)
  assert.equal((await ask(await clientToken(a.url, credentials))).status, 200, 'the new key')
  assert.equal((await ask(credentials.token)).status, 200, 'the old one, until its tokens expire')
  assert.equal((await ask(await clientToken(b.url, credentials))).status, 200)
}

/** Reads that never stop, so that looks at the feeds overlap. */
async function underLoad(on: Installation, path: string, work: () => Promise<void>): Promise<void> {
  let going = true
  const readers = [1, 2, 3].map(async () => {
    while (going) assert.equal((await on.request('GET', `${path}?${version}`)).status, 200)
  })
  try {
    await work()
  } finally {
    going = false
    await Promise.all(readers)
  }
}

/** What is to be there after a restart: made here, looked for by what comes back. */
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

function walks(replicas: () => Replicas): void {
  test('by the command line', () => byCommandLine(replicas()))
  test('by the API', () => byApi(replicas()))
  test('a grant, and its end, count from the next request', () => grantsAtOnce(replicas()))
  test('so does a change of membership', () => membershipsAtOnce(replicas()))
  test('so does disabling and deleting a principal', () => disabledAtOnce(replicas()))
  test('so does a new signing key', () => keysAtOnce(replicas()))
}

describe('SQLite', { timeout: 120_000 }, () => {
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
    // The same key by the setting does as well as the file.
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

describe('PostgreSQL, two replicas', { timeout: 180_000 }, () => {
  let server: PostgresServer | undefined
  let a: Installation
  let b: Installation
  let options: InstallationOptions
  const homes = [freshHome(), freshHome(), freshHome()]
  const [homeA = '', homeB = '', homeC = ''] = homes

  before(async () => {
    if (findPostgres() === undefined) return
    server = await startPostgres({ fsync: false })
    // As behind a load balancer: one address for both.
    const environment = { ARMATURE_PUBLIC_URL: 'http://armature.example' }
    options = { store: await server.createDatabase(), environment }
    a = await startInstallation({ ...options, home: homeA })
    const key = readFileSync(join(homeA, 'installation.key'), 'utf8')
    const started = await startInstallation({ ...options, home: homeB, key })
    // The owner is one and the same; only the first home holds the credentials.
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
