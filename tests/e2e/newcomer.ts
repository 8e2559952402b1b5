/**
 * A newcomer's first day, by command line and by API: grant one application the right to read one resource group,
 * see it refused everywhere else. The same walks for every way to run an installation: a checkout, the image, the
 * compose file.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addMember,
  assertRefused,
  createApplication,
  createGroup,
  createResourceGroup,
  grant,
  removeMember,
  revoke,
  roles,
} from './access.ts'
import { type Attached, askToken, clientToken } from './installation.ts'

/** One installation: `a` and `b` are two of its processes, or the same one twice. */
interface Replicas {
  readonly a: Attached
  readonly b: Attached
}

const version = 'api-version=2021-04-01'

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
  const login = ['token', `--client-id=${ci['clientId']}`, '--client-secret=-']
  const signedIn = await a.cli(login, ci['clientSecret'])
  assert.equal(signedIn.code, 0, signedIn.error)
  const token = signedIn.out.trim()
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
  const shown = listed.items().map((one) => (one as { subscriptionId: string }).subscriptionId)
  assert.deepEqual(shown, [a.subscriptionId], 'the one that the group is in, and no other')
  assertRefused(await ask('GET', subscription), 403, 'AuthorizationFailed')
  const groups = await ask('GET', `${subscription}/resourceGroups`)
  assert.deepEqual(
    groups.items().map((one) => (one as { name: string }).name),
    ['api-mine'],
    'no group of others',
  )
}

/** Often, and under load: a copy that is almost fresh is caught sooner or later. */
export const turns = 12

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
    // A revoked right stays revoked: the old token does not work again, a new one is needed.
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

/** Reads that never pause, so that polls of the feeds overlap. */
async function underLoad(on: Attached, path: string, work: () => Promise<void>): Promise<void> {
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

export function walks(replicas: () => Replicas): void {
  test('by the command line', () => byCommandLine(replicas()))
  test('by the API', () => byApi(replicas()))
  test('a grant, and its end, count from the next request', () => grantsAtOnce(replicas()))
  test('so does a change of membership', () => membershipsAtOnce(replicas()))
  test('so does disabling and deleting a principal', () => disabledAtOnce(replicas()))
  test('so does a new signing key', () => keysAtOnce(replicas()))
}
