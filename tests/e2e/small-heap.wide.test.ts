/**
 * A server with the heap that the runtime takes by itself in a container of 1 GB: what many callers do at once over the largest
 * resources that there can be ends nobody's server, nor do connections with the largest heads.
 */

import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { createApplication, createResourceGroup, grant, roles } from './access.ts'
import { type Installation, type InstallationOptions, startInstallation } from './installation.ts'

const smallHeap = {
  NODE_OPTIONS: '--max-old-space-size=256',
  ARMATURE_CONTAINERS: 'simulated',
}
const callers = 8
const rows = 12
const version = 'api-version=2024-05-01'
const manager = 'api-version=2021-04-01'

/** As many objects as a body may have, and as much text. */
const backend = {
  url: 'https://backend.example',
  protocol: 'http',
  properties: {
    empty: Array.from({ length: 49_000 }, () => ({})),
    text: 'x'.repeat(3_400_000),
  },
}

const template = {
  $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
  contentVersion: '1.0.0.0',
  resources: [
    {
      type: 'Vendor.ApiManagement/service/backends',
      apiVersion: '2024-05-01',
      name: "[concat('large/b', copyIndex())]",
      copy: { name: 'all', count: rows },
      properties: { url: backend.url, protocol: backend.protocol },
    },
  ],
}

async function manyOverLarge(options: InstallationOptions): Promise<void> {
  await using on = await startInstallation({
    ...options,
    environment: {
      ...smallHeap,
      ARMATURE_THROTTLE: 'false',
    },
  })
  const group = `/subscriptions/${on.subscriptionId}/resourceGroups/large`
  await createResourceGroup(on, group)
  const service = `${group}/providers/Vendor.ApiManagement/service/large`
  const properties = { publisherEmail: 'a@b.example', publisherName: 'A' }
  const sku = { name: 'Developer', capacity: 1 }
  const body = { location: 'local', sku, properties }
  assert.equal((await on.request('PUT', `${service}?${version}`, { body })).status, 201)
  for (let row = 0; row < rows; row++) {
    const path = `${service}/backends/b${row}?${version}`
    const { status } = await on.request('PUT', path, { body: { properties: backend } })
    assert.equal(status, 201)
  }
  const tokens = await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const { principalId, token } = await createApplication(on, `caller ${caller}`)
      await grant(on, group, roles.contributor, principalId)
      return token
    }),
  )
  const deployments = `${group}/providers/Vendor.Resources/deployments`
  const whatIf = { body: { properties: { mode: 'Incremental', template } } }
  const filter = encodeURIComponent("contains(name,'b')")
  const kinds = [
    [
      'POST',
      `${group}/exportTemplate?${manager}`,
      { body: { resources: [`${service}/backends/b1`] } },
    ],
    ['POST', `${deployments}/one/whatIf?${manager}`, whatIf],
    ['POST', `${deployments}/one/validate?${manager}`, whatIf],
    ['GET', `${service}/backends?${version}&$top=1000&$filter=${filter}`, {}],
    ['GET', `${service}/backends/b2?${version}`, {}],
    ['PATCH', `${service}/backends/b3?${version}`, { headers: { 'if-match': '*' }, body: {} }],
  ] as const
  const statuses = await Promise.all(
    tokens.flatMap((token) =>
      [...kinds, ...kinds].map(async ([method, path, given]) => {
        const { status } = await on.request(method, path, { ...given, token })
        return status
      }),
    ),
  )
  // Whoever waits longer than a request may take is told so.
  assert.deepEqual(
    [...new Set(statuses)].filter((status) => status !== 200 && status !== 504),
    [],
  )
  assert.equal(on.process.exitCode, null)
  assert.equal((await on.request('GET', '/readyz')).status, 200)
}

describe('many callers over large resources, in a small heap', () => {
  test('SQLite', { timeout: 240_000 }, () => manyOverLarge({}))

  test('PostgreSQL', { timeout: 240_000 }, async (t) => {
    if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
    await using database = await startPostgres()
    await manyOverLarge({ store: await database.createDatabase() })
  })
})

/** The engine's list of members named by numbers goes up to the number. */
const sparse = Array.from({ length: 20_000 }, () => ({ 1000: 0 }))
const apiOfSparse = {
  openapi: '3.0.1',
  info: { title: 'sparse', version: '1' },
  paths: {
    '/': { get: { responses: { 200: { content: { 'application/json': { example: sparse } } } } } },
  },
}

/** Names of examples, and of parameters, which are members of the document that is exported. */
async function definedWithNumbers(on: Installation, api: string): Promise<void> {
  const examples = { 1000: {}, 2500: {} }
  const formParameters = Object.keys(examples).map((name) => ({ name, type: 'string' }))
  for (const [name, each] of Object.entries({ examples, formParameters })) {
    const representations = Array.from({ length: 1000 }, (_, at) => ({
      contentType: `${name}/${at}`,
      [name]: each,
    }))
    const responses = Array.from({ length: 8 }, (_, at) => ({
      statusCode: 200 + at,
      representations,
    }))
    const properties = { displayName: name, method: 'GET', urlTemplate: `/${name}`, responses }
    const path = `${api}/operations/${name}?${version}`
    assert.equal((await on.request('PUT', path, { body: { properties } })).status, 201)
  }
  assert.equal((await on.request('GET', `${api}/operations?${version}`)).status, 200)
  // The contract describes two shapes of this answer as one.
  const headers = { authorization: `Bearer ${on.ownerToken}` }
  const exported = await fetch(`${on.url}${api}?export=true&format=openapi&${version}`, { headers })
  assert.equal(exported.status, 200)
  await exported.arrayBuffer()
}

test('members named by numbers', { timeout: 240_000 }, async () => {
  await using on = await startInstallation({
    environment: { ...smallHeap, ARMATURE_THROTTLE: 'false' },
  })
  const group = `/subscriptions/${on.subscriptionId}/resourceGroups/sparse`
  await createResourceGroup(on, group)
  const service = `${group}/providers/Vendor.ApiManagement/service/sparse`
  const publisher = { publisherEmail: 'a@b.example', publisherName: 'A' }
  const sku = { name: 'Developer', capacity: 1 }
  const put = async (path: string, body: object): Promise<unknown> =>
    (await on.request('PUT', `${path}?${version}`, { body })).status
  assert.equal(await put(service, { location: 'local', sku, properties: publisher }), 201)
  const row = `${service}/backends/sparse`
  const named = Object.fromEntries(sparse.slice(1_000).map((one, at) => [`n${at}`, one]))
  const properties = { url: backend.url, protocol: backend.protocol, properties: { sparse, named } }
  assert.equal(await put(row, { properties }), 201)

  const patch = { body: { properties: { properties: { named } } }, headers: { 'if-match': '*' } }
  assert.equal((await on.request('PATCH', `${row}?${version}`, patch)).status, 200)
  const only = { body: { resources: [row] } }
  assert.equal((await on.request('POST', `${group}/exportTemplate?${manager}`, only)).status, 200)
  const value = JSON.stringify(apiOfSparse)
  const api = { format: 'openapi+json', value, path: 'sparse', displayName: 'sparse' }
  assert.equal(await put(`${service}/apis/sparse`, { properties: api }), 201)
  await definedWithNumbers(on, `${service}/apis/sparse`)

  const whatIf = {
    body: {
      properties: {
        mode: 'Incremental',
        template: { ...template, resources: [], metadata: { sparse } },
      },
    },
  }
  const tokens = await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const { principalId, token } = await createApplication(on, `caller ${caller}`)
      await grant(on, group, roles.contributor, principalId)
      return token
    }),
  )
  const path = `${group}/providers/Vendor.Resources/deployments/one/whatIf?${manager}`
  await Promise.all(
    tokens.flatMap((token) =>
      Array.from({ length: 6 }, () => on.request('POST', path, { ...whatIf, token })),
    ),
  )
  assert.equal(on.process.exitCode, null)
  assert.equal((await on.request('GET', '/readyz')).status, 200)
})

/** As many short headers as a head may have. */
const head = `GET /healthz HTTP/1.1\r\nHost: here\r\n${Array.from({ length: 850 }, (_, at) => `n${at}: v${at}\r\n`).join('')}`
const addresses = 9
const ofAddress = 980

test('nine addresses with connections whose heads never end, after a request with as long a head', {
  timeout: 120_000,
}, async () => {
  await using on = await startInstallation({ environment: smallHeap })
  const { hostname: host, port } = new URL(on.url)
  const sockets: Socket[] = []
  let met = 0
  const heard = new Set<Socket>()
  for (let at = 0; at < addresses * ofAddress; at++) {
    const localAddress = `127.0.0.${(at % addresses) + 10}`
    const socket = connect({ host, port: Number(port), localAddress })
    socket.once('connect', () => met++).on('error', () => undefined)
    for (const event of ['data', 'close']) socket.once(event, () => heard.add(socket))
    socket.write(`${head}\r\n${head}`)
    sockets.push(socket)
    // The system holds so many until they are accepted.
    if (at % ofAddress === 0) await until(() => met + heard.size >= at)
  }
  await until(() => heard.size === sockets.length)
  assert.equal((await on.request('GET', '/readyz')).status, 200)
  assert.equal(on.process.exitCode, null)
  for (const socket of sockets) socket.destroy()
})
