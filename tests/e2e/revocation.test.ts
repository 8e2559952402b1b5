/**
 * Open shells end when the right to them is taken away, by whatever way and at whatever replica. So do subscriptions
 * to changes.
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { start } from '../../src/embedded/index.ts'
import { startPodman, testImage } from '../../src/engines/containers/testing/podman.ts'
import { localServer } from '../../src/outbound/testing/ways.ts'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import {
  type Application,
  addMember,
  assignmentPath,
  createApplication,
  createGroup,
  createResourceGroup,
  grant,
  removeMember,
  revoke,
  roleId,
  roles,
} from './access.ts'
import { type Installation, startInstallation } from './installation.ts'

const version = 'api-version=2025-09-01'

interface Shell {
  /** Sends a line and waits for its output. */
  answers(): Promise<void>
  /** The code and reason of the server's close. */
  readonly closed: Promise<readonly [code: number, reason: string]>
}

interface Place {
  /** Where rights are revoked. */
  readonly first: Installation
  /** Where shells are open. */
  readonly second: Installation
  readonly scope: string
}

const taken = [1008, 'the right to this was taken away'] as const
const refused = [1008, 'the token is no longer accepted'] as const

/** Ways to revoke a right while a shell uses it. */
const ways: readonly {
  readonly name: string
  readonly expected: readonly [number, string]
  run(place: Place): Promise<readonly [Shell, () => Promise<void>]>
}[] = [
  {
    name: 'a role assignment is removed',
    expected: taken,
    async run({ first, second, scope }) {
      const application = await createApplication(first, 'assigned')
      const id = await grant(first, scope, roles.contributor, application.principalId)
      return [await openShell(second, scope, application), () => revoke(first, id)]
    },
  },
  {
    name: 'a member leaves the group that has the role',
    expected: taken,
    async run({ first, second, scope }) {
      const application = await createApplication(first, 'member')
      const group = await createGroup(first, 'operators')
      await grant(first, scope, roles.contributor, group)
      await addMember(first, group, application.principalId)
      return [
        await openShell(second, scope, application),
        () => removeMember(first, group, application.principalId),
      ]
    },
  },
  {
    name: 'the principal is disabled',
    expected: refused,
    async run({ first, second, scope }) {
      const application = await createApplication(first, 'disabled')
      await grant(first, scope, roles.contributor, application.principalId)
      return [
        await openShell(second, scope, application),
        () => changed(first, 'PATCH', application, { enabled: false }),
      ]
    },
  },
  {
    name: 'the secret that the token came by is removed',
    expected: refused,
    async run({ first, second, scope }) {
      const application = await createApplication(first, 'secret')
      await grant(first, scope, roles.contributor, application.principalId)
      const secrets = `/directory/servicePrincipals/${application.principalId}/secrets`
      const [secret] = (await first.request('GET', secrets)).items()
      return [
        await openShell(second, scope, application),
        async () => {
          const removed = await first.request('DELETE', `${secrets}/${String(secret?.['id'])}`)
          assert.equal(removed.status, 204, removed.text)
        },
      ]
    },
  },
  {
    name: 'the principal is deleted',
    expected: refused,
    async run({ first, second, scope }) {
      const application = await createApplication(first, 'deleted')
      await grant(first, scope, roles.contributor, application.principalId)
      return [
        await openShell(second, scope, application),
        () => changed(first, 'DELETE', application),
      ]
    },
  },
]

async function changed(
  installation: Installation,
  method: string,
  { principalId }: Application,
  body?: object,
): Promise<void> {
  const path = `/directory/servicePrincipals/${principalId}`
  const answer = await installation.request(method, path, body === undefined ? {} : { body })
  assert.ok(answer.status < 300, answer.text)
}

test('shells end when the right to them is taken away', async (t) => {
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using engine = podman
  const { target } = engine
  assert.ok(target.kind === 'socket')
  const environment = {
    ARMATURE_CONTAINERS: 'docker',
    ARMATURE_DOCKER_HOST: `unix://${target.path}`,
    ARMATURE_PUBLIC_URL: 'http://plane.example',
    ARMATURE_OUTBOUND: 'open',
  }
  // The ordinary suite runs the harder case: two replicas.
  const skip = process.env['ARMATURE_TEST_LONG'] === undefined ? 'ARMATURE_TEST_LONG' : false
  await t.test('one process on SQLite', { skip }, async (one) => {
    await using installation = await startInstallation({ environment })
    await takeAway(one, installation, installation)
  })
  await t.test('another replica on PostgreSQL', async (two) => {
    if (!requireOrSkip(two, findPostgres() !== undefined, howToGetPostgres)) return
    await using server = await startPostgres({ fsync: false })
    const store = await server.createDatabase()
    await using first = await startInstallation({ store, environment })
    const key = readFileSync(join(first.home, 'installation.key'), 'utf8')
    await using second = await startInstallation({ store, key, environment })
    await takeAway(two, first, second)
    await two.test('reads among many others', () => readAmongOthers(first, second))
    await two.test('writes that wait for their turn', () => takeTurns(first, second, store))
    await two.test('writes that wait for a row', () => waitForRow(first, second, store))
    await two.test('a database of a slow server', () => makeSlowly(first, store))
  })
})

/** Reads share their looks at what changed: each has its answer by what was acknowledged before it was sent. */
async function readAmongOthers(first: Installation, second: Installation): Promise<void> {
  const scope = `/subscriptions/${first.subscriptionId}/resourceGroups/read`
  await createResourceGroup(first, scope)
  const reader = await createApplication(first, 'reader')
  const another = await createApplication(first, 'another reader')
  await grant(first, scope, roles.reader, another.principalId)
  const read = async ({ token } = reader): Promise<number> =>
    (await second.request('GET', `${scope}?api-version=2021-04-01`, { token })).status
  /** The answer to the reader, whose request is the middle one of several. */
  const amongOthers = async (): Promise<number> => {
    const others = [read(another), read(another)]
    const answer = read()
    for (const one of [...others, read(another), read(another)]) assert.equal(await one, 200)
    return answer
  }
  for (let round = 0; round < 10; round++) {
    assert.equal(await amongOthers(), 403)
    const assigned = await grant(first, scope, roles.reader, reader.principalId)
    assert.equal(await amongOthers(), 200)
    await revoke(first, assigned)
  }
  await grant(first, scope, roles.reader, reader.principalId)
  assert.equal(await amongOthers(), 200)
  await changed(first, 'PATCH', reader, { enabled: false })
  assert.equal(await amongOthers(), 401)
}

/** Its server is reached by a way that keeps connections waiting. */
async function makeSlowly(installation: Installation, store: string): Promise<void> {
  const { port, username, password } = new URL(store)
  let waiting: (() => void)[] | undefined
  const way = createServer((client) => {
    const pass = (): void => {
      const server = connect(Number(port), '127.0.0.1')
      client.pipe(server).pipe(client)
      for (const end of [client, server]) end.on('error', () => undefined)
    }
    if (waiting === undefined) pass()
    else waiting.push(pass)
  }).listen(0, '127.0.0.1')
  await once(way, 'listening')
  // It listens on a port.
  const { port: wayPort } = way.address() as AddressInfo
  const scope = `/subscriptions/${installation.subscriptionId}/resourceGroups/slow`
  const server = `${scope}/providers/Vendor.DBforPostgreSQL/flexibleServers/slow`
  const path = (id: string): string => `${id}?api-version=2025-08-01`
  try {
    await createResourceGroup(installation, scope)
    const properties = {
      fullyQualifiedDomainName: '127.0.0.1',
      port: wayPort,
      administratorLogin: username,
      administratorLoginPassword: password,
      sslMode: 'Prefer',
    }
    const body = { location: 'local', properties }
    const made = await installation.request('PUT', path(server), { body })
    assert.ok(made.status < 300, made.text)
    const databases = async (): Promise<string> =>
      (await installation.request('GET', path(`${server}/databases`))).text
    assert.match(await databases(), /"postgres"/)
    const writer = await createApplication(installation, 'slow writer')
    const assigned = await grant(installation, scope, roles.contributor, writer.principalId)
    const late = path(`${server}/databases/late`)
    const held: (() => void)[] = []
    waiting = held
    const written = installation.request('PUT', late, { body: {}, token: writer.token })
    await until(() => held.length > 0, 5)
    await revoke(installation, assigned)
    waiting = undefined
    for (const pass of held) pass()
    assert.equal((await written).status, 403)
    assert.doesNotMatch(await databases(), /"late"/)
  } finally {
    way.close()
  }
}

/**
 * A write of rights or of the directory waits until those before it have ended. The one before it takes its writer's right
 * away, at another replica.
 */
async function takeTurns(first: Installation, second: Installation, store: string): Promise<void> {
  const scope = `/subscriptions/${first.subscriptionId}/resourceGroups/turns`
  await createResourceGroup(first, scope)
  const database = new pg.Client(store)
  await database.connect()
  const waiting = async (count: number): Promise<void> => {
    const question = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    await until(async () => (await database.query(question)).rowCount === count, 5)
  }
  /** The answer to `later`, which came when `earlier` waited already. */
  const inTurn = async (
    feed: string,
    earlier: () => Promise<unknown>,
    later: () => Promise<{ readonly status: number }>,
  ): Promise<number> => {
    await database.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [feed])
    const before = earlier()
    await waiting(1)
    const after = later()
    await waiting(2)
    await database.query('SELECT pg_advisory_unlock_all()')
    await before
    return (await after).status
  }
  try {
    const writer = await createApplication(first, 'writer')
    const asWriter = writer.token
    const assigned = await grant(first, scope, roles.owner, writer.principalId)
    const body = {
      properties: {
        principalId: randomUUID(),
        principalType: 'ServicePrincipal',
        roleDefinitionId: roleId(roles.owner),
      },
    }
    const write = () => second.request('PUT', assignmentPath(scope), { body, token: asWriter })
    const made = await write()
    assert.equal(made.status, 201, made.text)
    body.properties.principalId = randomUUID()
    assert.equal(await inTurn('authorization', () => revoke(first, assigned), write), 403)
    await grant(first, '', roles.owner, writer.principalId)
    const addGroup = () =>
      second.request('POST', '/directory/groups', {
        body: { displayName: `late-${randomUUID()}` },
        token: asWriter,
      })
    const added = await addGroup()
    assert.equal(added.status, 201, added.text)
    const disable = () => changed(first, 'PATCH', writer, { enabled: false })
    assert.equal(await inTurn('directory', disable, addGroup), 401)
  } finally {
    await database.end()
  }
}

/** A write waits for a row of its own while its writer loses the right, or the account, at another replica. */
async function waitForRow(first: Installation, second: Installation, store: string): Promise<void> {
  const scope = `/subscriptions/${first.subscriptionId}/resourceGroups/rows`
  await createResourceGroup(first, scope)
  const id = `${scope}/providers/Vendor.ApiManagement/service/one/tags/kept`
  const path = `${id}?api-version=2021-08-01`
  const service = `${scope}/providers/Vendor.ApiManagement/service/one?api-version=2021-08-01`
  const sku = { name: 'Developer', capacity: 1 }
  const properties = { publisherEmail: 'ada@example.test', publisherName: 'Ada' }
  const body = { location: 'local', sku, properties }
  assert.ok((await first.request('PUT', service, { body })).status < 300)
  const write = (displayName: string, { token }: Application) =>
    second.request('PUT', path, { body: { properties: { displayName } }, token })
  const database = new pg.Client(store)
  await database.connect()
  /** The answer to a request that waits for the row while the right to it is taken away. */
  const late = async (
    request: () => Promise<{ readonly status: number }>,
    take: () => Promise<unknown>,
  ): Promise<number> => {
    await database.query('BEGIN')
    await database.query('SELECT FROM resources WHERE key = $1 FOR UPDATE', [id.toLowerCase()])
    const waiting = request()
    const question = "SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
    await until(async () => ((await database.query(question)).rowCount ?? 0) > 0, 5)
    await take()
    await database.query('ROLLBACK')
    return (await waiting).status
  }
  try {
    const writer = await createApplication(first, 'who waits for a row')
    const assign = () => grant(first, scope, roles.contributor, writer.principalId)
    let assigned = await assign()
    assert.equal((await write('before', writer)).status, 201)
    const { principalId: another } = await createApplication(first, 'somebody else')
    const others = () => grant(first, scope, roles.reader, another)
    assert.equal(await late(() => write('beside others', writer), others), 200)
    assert.equal(
      await late(
        () => write('late', writer),
        () => revoke(first, assigned),
      ),
      403,
    )
    assigned = await assign()
    const remove = () => second.request('DELETE', path, { token: writer.token })
    assert.equal(await late(remove, () => revoke(first, assigned)), 403)
    assigned = await assign()
    const target = `${scope}-beside`
    await createResourceGroup(first, target)
    await grant(first, target, roles.contributor, writer.principalId)
    const move = () =>
      second.request('POST', `${scope}/moveResources?api-version=2021-04-01`, {
        body: { resources: [service.split('?', 1)[0]], targetResourceGroup: target },
        token: writer.token,
      })
    assert.equal(await late(move, () => revoke(first, assigned)), 403)
    await assign()
    const disable = () => changed(first, 'PATCH', writer, { enabled: false })
    assert.equal(await late(() => write('later', writer), disable), 401)
    const kept = await first.request('GET', path)
    assert.equal(kept.at('properties.displayName'), 'beside others', kept.text)
  } finally {
    await database.end()
  }
}

async function takeAway(t: TestContext, first: Installation, second: Installation): Promise<void> {
  const scope = `/subscriptions/${first.subscriptionId}/resourceGroups/shells`
  await createResourceGroup(first, scope)
  await makeContainer(first, scope)
  const kept = await createApplication(first, 'kept')
  await grant(first, scope, roles.contributor, kept.principalId)
  const lasting = await openShell(second, scope, kept)
  for (const { name, expected, run } of ways) {
    await t.test(name, async () => {
      const [shell, take] = await run({ first, second, scope })
      await shell.answers()
      await take()
      assert.deepEqual(await shell.closed, expected)
    })
  }
  await lasting.answers()
  const gone = await first.request('DELETE', `${groupPath(scope)}?${version}`)
  assert.ok(gone.status < 300, gone.text)
}

function groupPath(scope: string): string {
  return `${scope}/providers/Vendor.ContainerInstance/containerGroups/one`
}

async function makeContainer(installation: Installation, scope: string): Promise<void> {
  const path = `${groupPath(scope)}?${version}`
  const container = {
    name: 'web',
    properties: {
      image: testImage,
      command: ['sh', '-c', "trap 'exit 0' TERM; while true; do sleep 0.2; done"],
      resources: { requests: { cpu: 0.5, memoryInGB: 0.1 } },
    },
  }
  const body = { location: 'local', properties: { osType: 'Linux', containers: [container] } }
  const made = await installation.request('PUT', path, { body })
  assert.equal(made.status, 201, made.text)
  await until(async () => {
    const shown = await installation.request('GET', path)
    const state = shown.at('properties.provisioningState')
    assert.notEqual(state, 'Failed', shown.text)
    return state === 'Succeeded'
  })
}

async function openShell(
  installation: Installation,
  scope: string,
  { token }: Application,
): Promise<Shell> {
  const exec = await installation.request(
    'POST',
    `${groupPath(scope)}/containers/web/exec?${version}`,
    { token, body: { command: 'sh' } },
  )
  assert.equal(exec.status, 200, exec.text)
  const { pathname } = new URL(String(exec.at('webSocketUri')))
  const socket = new WebSocket(`${installation.url.replace(/^http/, 'ws')}${pathname}`)
  socket.binaryType = 'arraybuffer'
  let heard = ''
  socket.addEventListener('message', ({ data }) => {
    heard += Buffer.from(data as ArrayBuffer).toString('utf8')
  })
  const closed = new Promise<readonly [number, string]>((resolve) => {
    socket.addEventListener('close', ({ code, reason }) => resolve([code, reason]))
  })
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  socket.send(String(exec.at('password')))
  let lines = 0
  const answers = async (): Promise<void> => {
    lines += 1
    const wanted = `answer ${lines * 7}`
    socket.send(`echo answer $((${lines} * 7))\n`)
    await until(() => {
      assert.equal(socket.readyState, WebSocket.OPEN, `closed after ${heard}`)
      return heard.includes(wanted)
    })
  }
  await answers()
  return { answers, closed }
}

test('subscriptions to changes end with their maker, and with the role of an administrator', async () => {
  const notified: string[] = []
  await using receiver = await localServer((request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? '', 'http://receiver')
    if (!searchParams.has('validationToken')) notified.push(pathname)
    response.end(searchParams.get('validationToken') ?? '')
  })
  await using plane = await start({
    clock: 'manual',
    seed: {
      principals: ['deleted', 'demoted', 'reader'].map((name) => ({
        name,
        type: 'application' as const,
      })),
      roleAssignments: [{ principal: 'demoted', role: 'Owner', scope: '/' }],
    },
  })
  const call = async (method: string, path: string, body?: object, as = plane.token) => {
    const answer = await fetch(`${plane.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.text()
    assert.ok(answer.ok, text)
    return text === '' ? {} : JSON.parse(text)
  }
  const company = `companies(${(await call('POST', '/api/v2.0/companies', { name: 'X' })).id})`
  for (const name of ['deleted', 'reader']) {
    const right = { principalId: plane.idOf(name), role: 'read' }
    await call('POST', `/api/v2.0/${company}/accessRights`, right)
  }
  for (const name of ['deleted', 'demoted', 'reader']) {
    const wanted = {
      notificationUrl: `http://127.0.0.1:${receiver.port}/${name}`,
      resource: `api/v2.0/${company}/customers`,
    }
    await call('POST', '/api/v2.0/subscriptions', wanted, await plane.tokenOf(name))
  }
  /** Whoever is notified of a change until all of `expected` are. All are sent at once. */
  const notifiedOfChange = async (expected: readonly string[]) => {
    notified.length = 0
    await call('POST', `/api/v2.0/${company}/customers`, { displayName: 'one' })
    await until(async () => {
      await plane.advance('15s')
      await sleep(50)
      return expected.every((path) => notified.includes(path))
    })
    return [...new Set(notified)].toSorted()
  }
  const everybody = ['/deleted', '/demoted', '/reader']
  assert.deepEqual(await notifiedOfChange(everybody), everybody)
  await call('DELETE', `/directory/servicePrincipals/${plane.idOf('deleted')}`)
  const assignments = '/providers/Vendor.Authorization/roleAssignments'
  const filter = `$filter=principalId eq '${plane.idOf('demoted')}'`
  const given = await call('GET', `${assignments}?api-version=2022-04-01&${filter}`)
  for (const { id } of given.value) await call('DELETE', `${id}?api-version=2022-04-01`)
  assert.deepEqual(await notifiedOfChange(['/reader']), ['/reader'])
  const left = await call('GET', '/api/v2.0/subscriptions')
  assert.deepEqual(
    left.value.map(({ userId }: { userId: string }) => userId),
    [plane.idOf('reader')],
  )
})

test('who loses the right while an identity provider is waited for gets no token, and nothing is written', async () => {
  const waiting: (() => void)[] = []
  let holds = false
  await using identityProvider = await localServer((_request, response) => {
    const answer = () => {
      response.setHeader('Content-Type', 'application/json')
      response.end(
        JSON.stringify({ access_token: 'theirs', token_type: 'Bearer', expires_in: 100 }),
      )
    }
    if (holds) waiting.push(answer)
    else answer()
  })
  await using plane = await start({
    seed: {
      principals: ['writer', 'reader'].map((name) => ({ name, type: 'application' as const })),
    },
  })
  const call = async (method: string, path: string, body?: object, as = plane.token) => {
    const answer = await fetch(`${plane.url}${path}?api-version=2024-05-01`, {
      method,
      headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const succeeds = async (...[method, path, body]: Parameters<typeof call>) => {
    const { status, text } = await call(method, path, body)
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`)
  }
  const service = `/subscriptions/${plane.subscriptionId}/resourceGroups/apis/providers/Vendor.ApiManagement/service/one`
  const provider = `${service}/authorizationProviders/machine`
  const tokenUrl = `http://127.0.0.1:${identityProvider.port}/token`
  await succeeds('PUT', service, {
    location: 'local',
    sku: { name: 'Developer' },
    properties: { publisherEmail: 'a@example.test', publisherName: 'A' },
  })
  const clientCredentials = { clientId: 'us', clientSecret: 'a-secret-of-ours', tokenUrl }
  const oauth2 = { grantTypes: { clientCredentials } }
  await succeeds('PUT', provider, { properties: { identityProvider: 'oauth2', oauth2 } })
  const one = `${provider}/authorizations/one`
  const body = { properties: { oauth2grantType: 'ClientCredentials' } }
  await succeeds('PUT', one, body)
  const objectId = plane.idOf('reader')
  const policy = `${one}/accessPolicies/reader`
  await succeeds('PUT', policy, { properties: { tenantId: plane.tenantId, objectId } })
  const assignment = `${service}/providers/Vendor.Authorization/roleAssignments/${randomUUID()}`
  const roleDefinitionId = `/providers/Vendor.Authorization/roleDefinitions/${roles.contributor}`
  const assigned = { properties: { roleDefinitionId, principalId: plane.idOf('writer') } }
  const assign = await fetch(`${plane.url}${assignment}?api-version=2022-04-01`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${plane.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(assigned),
  })
  assert.equal(assign.status, 201, await assign.text())

  holds = true
  const asReader = await plane.tokenOf('reader')
  const asWriter = await plane.tokenOf('writer')
  const token = call('POST', `${one}/getToken`, undefined, asReader)
  const written = call('PUT', `${provider}/authorizations/two`, body, asWriter)
  await until(() => waiting.length >= 2)
  await succeeds('DELETE', policy)
  const removed = await fetch(`${plane.url}${assignment}?api-version=2022-04-01`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${plane.token}` },
  })
  assert.equal(removed.status, 200)
  for (const answer of waiting) answer()
  const [tokenAnswer, writeAnswer] = [await token, await written]
  assert.equal(tokenAnswer.status, 403, tokenAnswer.text)
  assert.equal(writeAnswer.status, 403, writeAnswer.text)
  assert.equal((await call('GET', `${provider}/authorizations/two`)).status, 404)
})
