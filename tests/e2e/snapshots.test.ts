/** States of an installation are saved and restored while it runs: on both stores, with engines, across kills. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import {
  startPodman,
  type ThrowawayPodman,
  testImage,
} from '../../src/engines/containers/testing/podman.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { createApplication, createResourceGroup, grant, roles } from './access.ts'
import { type CollectedMemory, collectedMemory, inspected } from './collected-memory.ts'
import { clientToken, freshHome, type Installation, startInstallation } from './installation.ts'

const shared: { server?: Promise<PostgresServer> } = {}
after(async () => (await shared.server)?.stop())

const environment = { ARMATURE_CONTROL: 'local', ARMATURE_CONTAINERS: 'simulated' }

function groupPath(server: Installation, name: string): string {
  return `/subscriptions/${server.subscriptionId}/resourceGroups/${name}`
}

async function groups(server: Installation): Promise<readonly string[]> {
  const path = `/subscriptions/${server.subscriptionId}/resourceGroups?api-version=2021-04-01`
  const token = await clientToken(server.url, server.owner)
  const list = await server.request('GET', path, { token })
  return list.items().map(({ name }) => String(name))
}

async function control(server: Installation, method: string, path: string) {
  const token = await clientToken(server.url, server.owner)
  const answer = await server.request(method, `/_armature/${path}`, { token })
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
  return answer
}

function container(command: string) {
  return {
    location: 'local',
    properties: {
      osType: 'Linux',
      restartPolicy: 'Always',
      containers: [
        {
          name: 'web',
          properties: {
            image: 'web',
            command: [command],
            resources: { requests: { cpu: 0.1, memoryInGB: 0.1 } },
          },
        },
      ],
    },
  }
}

const containerVersion = 'api-version=2023-05-01'

async function untilRunning(server: Installation, path: string): Promise<void> {
  await until(async () => {
    const { body, text } = await server.request('GET', `${path}?${containerVersion}`)
    const state = Object(body)['properties']?.['instanceView']?.['state']
    assert.ok(state !== 'Failed', text)
    return state === 'Running'
  })
}

for (const dialect of ['sqlite', 'postgres'] as const) {
  test(`a state comes back whole, with rights, secrets and containers (${dialect})`, async (t) => {
    if (dialect === 'postgres' && !requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres))
      return
    if (dialect === 'postgres') shared.server ??= startPostgres()
    const store = await (await shared.server)?.createDatabase()
    await using server = await startInstallation({
      environment,
      ...(store === undefined ? {} : { store }),
    })
    const kept = `${groupPath(server, 'kept')}/providers/Vendor.ContainerInstance/containerGroups/one`
    const lost = `${groupPath(server, 'lost')}/providers/Vendor.ContainerInstance/containerGroups/two`
    await createResourceGroup(server, groupPath(server, 'kept'))
    const reader = await createApplication(server, 'reader')
    const assignment = await grant(server, '', roles.reader, reader.principalId)
    assert.equal(
      (await server.request('PUT', `${kept}?${containerVersion}`, { body: container('a') })).status,
      201,
    )
    await untilRunning(server, kept)
    const saved = await control(server, 'PUT', 'snapshots/before')
    assert.equal(saved.at('name'), 'before')

    await server.request('DELETE', `${assignment}?api-version=2022-04-01`)
    await server.request('DELETE', `${kept}?${containerVersion}`)
    await createResourceGroup(server, groupPath(server, 'lost'))
    await server.request('PUT', `${lost}?${containerVersion}`, { body: container('b') })
    await untilRunning(server, lost)
    const asReader = () =>
      server.request('GET', `${groupPath(server, 'kept')}?api-version=2021-04-01`, {
        token: reader.token,
      })
    assert.equal((await asReader()).status, 403)

    const began = performance.now()
    const restored = await control(server, 'POST', 'snapshots/before/restore')
    t.diagnostic(
      `restored ${restored.at('rows')} rows in ${Math.round(performance.now() - began)} ms`,
    )
    assert.deepEqual(await groups(server), ['kept'])
    assert.equal((await asReader()).status, 200)
    await untilRunning(server, kept)
    assert.equal((await server.request('GET', `${lost}?${containerVersion}`)).status, 404)
    const engine = join(server.home, 'simulated-containers')
    const held = readdirSync(join(engine, 'groups'))
    assert.equal(held.length, 1, held.join())

    await control(server, 'POST', 'reset')
    assert.deepEqual(await groups(server), [])
    // Ids that were in memory are found again.
    await createResourceGroup(server, groupPath(server, 'fresh'))
    assert.deepEqual(await groups(server), ['fresh'])
  })
}

test('a kill in the middle of a restore leaves one state or the other', async () => {
  const home = freshHome()
  try {
    let server = await startInstallation({ home, environment })
    for (const name of ['a', 'b', 'c']) await createResourceGroup(server, groupPath(server, name))
    await control(server, 'PUT', 'snapshots/three')
    await control(server, 'POST', 'reset')
    await control(server, 'PUT', 'snapshots/none')
    for (let round = 0; round < (isLong ? 6 : 4); round++) {
      const token = await clientToken(server.url, server.owner)
      const name = round % 2 === 0 ? 'three' : 'none'
      const asked = server
        .request('POST', `/_armature/snapshots/${name}/restore`, { token })
        .catch(() => undefined)
      await sleep(round * 4)
      await server.kill()
      await asked
      server = await startInstallation({ home, environment })
      assert.match((await groups(server)).join(), /^(?:a,b,c)?$/)
    }
    await server.kill()
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})

test('many resets and states leave nothing behind', async (t) => {
  await using server = await startInstallation({ environment })
  const files = () => readdirSync(server.home, { recursive: true }).map(String).sort()
  await control(server, 'PUT', 'snapshots/same')
  await control(server, 'POST', 'reset')
  const before = files()
  const rounds = isLong ? 40 : 10
  for (let round = 0; round < rounds; round++) {
    await createResourceGroup(server, groupPath(server, `group-${round}`))
    await control(server, 'PUT', 'snapshots/same')
    await control(server, 'POST', 'reset')
  }
  assert.deepEqual(files(), before)
  assert.deepEqual(await groups(server), [])
  t.diagnostic(`${rounds} rounds`)
})

const [resets, statesMade, warmUp] = [200, 100, 20]

const inLongSuite: typeof test | undefined = isLong ? test : undefined
inLongSuite?.(
  `${resets} resets and ${statesMade} states leave nothing behind, with containers that run and on PostgreSQL`,
  { timeout: 1_800_000 },
  async (t) => {
    if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
    const podman = await startPodman()
    const reason = typeof podman === 'string' ? podman : ''
    if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
    await using engine = podman
    assert.ok(engine.target.kind === 'socket')
    shared.server ??= startPostgres()
    const store = await (await shared.server).createDatabase()
    const docker = {
      ARMATURE_CONTAINERS: 'docker',
      ARMATURE_DOCKER_HOST: `unix://${engine.target.path}`,
    }
    // A quick machine asks for more tokens than one address may.
    const unthrottled = { ARMATURE_THROTTLE: 'false' }
    await using server = await startInstallation({
      environment: { ...environment, ...docker, ...inspected, ...unthrottled },
      store,
    })
    const held = async (): Promise<object> => ({
      files: readdirSync(server.home, { recursive: true }).map(String).sort(),
      containers: await engine.podman('ps', '--all', '--format', '{{.Names}}'),
      networks: await engine.podman('network', 'ls', '--format', '{{.Name}}'),
      volumes: await engine.podman('volume', 'ls', '--format', '{{.Name}}'),
      rows: await rowsOf(store),
      databases: await databasesOf(store),
    })
    const round = async (at: number): Promise<void> => {
      await createResourceGroup(server, groupPath(server, `group-${at}`))
      if (at % 10 === 0) {
        const path = `${groupPath(server, `group-${at}`)}/providers/Vendor.ContainerInstance/containerGroups/web`
        const put = await server.request('PUT', `${path}?${containerVersion}`, { body: sleeping })
        assert.equal(put.status, 201, put.text)
        await untilRunning(server, path)
      }
      if (at % 2 === 0) await control(server, 'PUT', `snapshots/state-${at % 4}`)
      if (at % 20 === 0) await control(server, 'POST', `snapshots/state-${at % 4}/restore`)
      await control(server, 'POST', 'reset')
      assert.deepEqual(await groups(server), [])
    }
    // From here on names of states are reused, and memory should stay the same.
    for (let at = 0; at < warmUp; at++) await round(at)
    await untilEmpty(engine)
    const [before, memory] = [await held(), await collectedMemory(server)]
    for (let at = 0; at < resets; at++) await round(at)
    await untilEmpty(engine)
    assert.deepEqual(await held(), before)
    const now = await collectedMemory(server)
    const grown = (what: keyof CollectedMemory) => (now[what] - memory[what]) / 1024 / 1024
    const report = `without garbage it holds ${grown('held').toFixed(1)} MB more, ${grown('resident').toFixed(1)} MB more are resident`
    t.diagnostic(report)
    assert.ok(grown('held') < 8 && grown('resident') < 32, report)
  },
)

const sleeping = {
  location: 'local',
  properties: {
    osType: 'Linux',
    restartPolicy: 'Always',
    containers: [
      {
        name: 'web',
        properties: {
          image: testImage,
          command: ['sleep', '600'],
          resources: { requests: { cpu: 0.1, memoryInGB: 0.1 } },
        },
      },
    ],
  },
}

/** A container that is being removed has gone when there is no other. */
async function untilEmpty(engine: ThrowawayPodman): Promise<void> {
  const list = async () => engine.podman('ps', '--all', '--format', '{{.Names}}')
  await until(async () => (await list()) === '', 1000)
}

/** The databases of the whole server, by name. */
async function databasesOf(store: string): Promise<object> {
  await using stack = new AsyncDisposableStack()
  const client = new pg.Client({ connectionString: store })
  await client.connect()
  stack.defer(() => client.end())
  return (await client.query('select datname from pg_database order by 1')).rows
}

/** The number of rows of each table. */
async function rowsOf(store: string): Promise<object> {
  const client = new pg.Client({ connectionString: store })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
  )
  const counts: Record<string, number> = {}
  for (const { name } of rows) {
    const { rows: counted } = await client.query(`select count(*)::int as n from "${name}"`)
    // The trail keeps the records of the last resets and of the sign-ins after them, some of which come a moment late.
    if (name === 'events') assert.ok(counted[0].n < 40, `${counted[0].n} audit records`)
    else counts[name] = counted[0].n
  }
  await client.end()
  return counts
}

test('a copy of a set that delta links keep is what a read gives after a state was brought back', async () => {
  await using server = await startInstallation({ environment })
  const made = await server.request('POST', '/api/v2.0/companies', { body: { name: 'Paper' } })
  const customers = `/api/v2.0/companies(${made.at('id')})/customers`
  const add = async (displayName: string) =>
    String((await server.request('POST', customers, { body: { displayName } })).at('id'))
  const rename = (id: string, displayName: string) =>
    server.request('PATCH', `${customers}(${id})`, {
      body: { displayName },
      headers: { 'if-match': '*' },
    })
  interface Row {
    readonly id: string
    readonly displayName: string
    readonly '@removed'?: object
  }
  const copy = new Map<string, string>()
  let link = customers
  const follow = async () => {
    const headers = { prefer: 'odata.track-changes' }
    const answer = await server.request('GET', link, { headers })
    assert.equal(answer.status, 200, answer.text)
    for (const row of answer.at('value') as readonly Row[]) {
      if (row['@removed'] === undefined) copy.set(row.id, row.displayName)
      else copy.delete(row.id)
    }
    link = String((answer.body as Record<string, unknown>)['@odata.deltaLink'])
  }
  const check = async () => {
    const rows = (await server.request('GET', customers)).at('value') as readonly Row[]
    assert.deepEqual(copy, new Map(rows.map(({ id, displayName }) => [id, displayName])))
  }
  const kept = await add('Kept')
  const changed = await add('Before')
  await follow()
  await control(server, 'PUT', 'snapshots/books')
  await rename(changed, 'After')
  await add('Lost')
  await server.request('DELETE', `${customers}(${kept})`)
  await follow()
  assert.deepEqual([...copy.values()].sort(), ['After', 'Lost'])
  await control(server, 'POST', 'snapshots/books/restore')
  await add('Later')
  await follow()
  assert.deepEqual([...copy.values()].sort(), ['Before', 'Kept', 'Later'])
  await check()
})

test('what is no state, another’s, or not there is refused, and nothing changes', async () => {
  await using server = await startInstallation({ environment })
  await using other = await startInstallation({ environment })
  await createResourceGroup(server, groupPath(server, 'mine'))
  const ask = async (method: string, path: string, body?: object) =>
    server.request(method, `/_armature/${path}`, body === undefined ? {} : { body })
  const missing = await ask('POST', 'snapshots/nowhere/restore')
  assert.equal(missing.at('error.code'), 'ControlNotFound', missing.text)
  assert.equal((await ask('PUT', 'snapshots/..%2f..%2fx')).status, 400)
  const garbage = Buffer.from('hello').toString('base64')
  assert.equal((await ask('PUT', 'snapshots/bad/content', { content: garbage })).status, 200)
  assert.equal((await ask('POST', 'snapshots/bad/restore')).status, 409)
  const foreign = await control(other, 'GET', 'snapshots/initial/content')
  await ask('PUT', 'snapshots/foreign/content', { content: foreign.at('content') as string })
  const refused = await ask('POST', 'snapshots/foreign/restore')
  assert.match(refused.text, /another installation/)
  assert.deepEqual(await groups(server), ['mine'])
  const saved = await control(server, 'GET', 'snapshots/initial/content')
  const text = gunzipSync(Buffer.from(saved.at('content') as string, 'base64')).toString()
  const [head = '', ...lines] = text.split('\n')
  const first = lines.findIndex((line) => line.startsWith('['))
  /** The state with another document of the subscription. */
  const edited = (change: (document: Record<string, unknown>) => void): readonly string[] =>
    lines.map((line) => {
      if (!line.startsWith('[') || !line.includes('"vendor.resources/subscriptions"')) return line
      // A row of the table of resources, one cell of which is its document.
      const cells = JSON.parse(line) as unknown[]
      const at = cells.findIndex((cell) => typeof cell === 'string' && cell.startsWith('{'))
      const document = JSON.parse(String(cells[at])) as Record<string, unknown>
      change(document)
      return JSON.stringify(cells.with(at, JSON.stringify(document)))
    })
  const strange = /is not as its type writes it/
  const crafted: readonly (readonly [readonly string[], RegExp])[] = [
    [edited((document) => Object.assign(document, { state: 7 })), strange],
    [edited((document) => Reflect.deleteProperty(document, 'system')), strange],
    [edited(({ model }) => Object.assign(Object(model), { displayName: { no: 'text' } })), strange],
    [edited((document) => Object.assign(document, { model: null })), strange],
    [[''], /lacks the table/],
    [
      lines.filter((line) => !line.includes('"feed_entries"')),
      /lacks the table 'feed_entries'|other cells/,
    ],
    [lines.toSpliced(first, 1, '["short"]'), /other cells than the table/],
    [lines.toSpliced(first, 1, (lines[first] ?? '').replace(/,[^,]*\]$/, ',[1]]')), /other cells/],
    [lines.toSpliced(first, 0, lines[first] ?? ''), /its rows contradict each other/],
    [lines.toSpliced(first, 0, `"${'x'.repeat(65 * 1024 * 1024)}"`), /a line of it is too long/],
    [
      lines.toSpliced(0, 0, '{"table":"installation","columns":["name"]}'),
      /has a table 'installation'/,
    ],
  ]
  for (const [rest, message] of crafted) {
    const content = gzipSync([head, ...rest].join('\n')).toString('base64')
    assert.equal((await ask('PUT', 'snapshots/crafted/content', { content })).status, 200)
    const answer = await ask('POST', 'snapshots/crafted/restore')
    assert.equal(answer.status, 409, answer.text)
    assert.match(answer.text, message)
    assert.deepEqual(await groups(server), ['mine'])
  }
  const own = await server.cli(['snapshot', 'export', 'initial', join(server.home, 'x.state')])
  assert.equal(own.code, 0, own.error)
  // Larger than a body, so it is sent in parts.
  const large = join(server.home, 'large.state')
  const bytes = randomBytes(5 * 1024 * 1024)
  writeFileSync(large, bytes)
  const taken = await server.cli(['snapshot', 'import', 'large', large])
  assert.equal(taken.code, 0, taken.error)
  await server.cli(['snapshot', 'export', 'large', large])
  assert.ok(readFileSync(large).equals(bytes))
  await server.cli(['snapshot', 'delete', 'large'])
  const back = await server.cli(['snapshot', 'import', 'again', join(server.home, 'x.state')])
  assert.equal(back.code, 0, back.error)
  assert.equal((await server.cli(['snapshot', 'restore', 'again'])).code, 0)
  assert.deepEqual(await groups(server), [])
})
