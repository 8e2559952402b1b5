/**
 * Each cell of the matrix by its effect: a step that is removed from a column lets through what that column must
 * refuse, and one that is added refuses what it must let through.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Type from 'typebox'
import type { Business } from '#business/service.ts'
import { group } from '#plane/testing/start.ts'
import type { EndpointKind } from './exchange.ts'
import { matrix } from './pipeline.ts'
import { locate } from './steps/locate.ts'
import { type StartOptions, startEdge, type TestEdge } from './testing/start.ts'

const widget = `${group}/providers/Vendor.Sample/widgets/w`
const version = '?api-version=2024-01-01'

interface Sample {
  readonly method: string
  readonly path: string
  readonly body?: string
  /** The endpoint takes a body that must be JSON. */
  readonly readsJson: boolean
  /** A path of the same kind that does not exist. */
  readonly nowhere?: string
}

function operations(name: string): string {
  const subscription = group.split('/')[2]
  return `/subscriptions/${subscription}/providers/Vendor.Sample/locations/here/operationStatuses/${name}${version}`
}

/** A request of each kind that succeeds as the owner. */
const samples: Readonly<Record<EndpointKind, Sample>> = {
  resource: {
    method: 'PUT',
    path: `${widget}${version}`,
    body: '{"location":"here","properties":{"parts":[]}}',
    readsJson: true,
    nowhere: `${group}/providers/Vendor.Sample/nothing/w${version}`,
  },
  collection: {
    method: 'GET',
    path: `${group}/providers/Vendor.Sample/widgets${version}`,
    readsJson: false,
    nowhere: `${group}/providers/Vendor.Sample/nothing${version}`,
  },
  action: {
    method: 'GET',
    path: `${widget}/count${version}`,
    readsJson: false,
    nowhere: `${widget}/nothing${version}`,
  },
  operation: { method: 'GET', path: '', readsJson: false, nowhere: operations('none') },
  directory: { method: 'POST', path: '/directory/echo', body: '{"word":"yes"}', readsJson: true },
  business: { method: 'GET', path: '/api/v2.0/companies', readsJson: false },
  open: { method: 'GET', path: '/healthz', readsJson: false },
}
const kinds = Object.keys(samples) as EndpointKind[]

/** Answers everything alike: other tests cover what is behind the column. */
const business: Business = {
  handle: async () => ({ status: 200, headers: {}, body: '{}' }),
  admitLarge: async () => {},
}

const options: StartOptions = {
  directoryRoutes: [
    {
      method: 'POST',
      path: '/directory/echo',
      action: 'Directory/echo/action',
      status: 200,
      body: Type.Object({ word: Type.String() }),
      run: async (_params, body) => body,
    },
  ],
  options: { business },
}

interface Started extends AsyncDisposable {
  ask(kind: EndpointKind, change?: Partial<Sample> & { readonly as?: string }): Promise<Response>
}

async function start(throttle: StartOptions['throttle'] = {}): Promise<Started> {
  const edge = await startEdge({ ...options, throttle })
  const operation = await operationOf(edge).catch(async (error: unknown) => {
    await edge[Symbol.asyncDispose]()
    throw error
  })
  return {
    ask(kind, { as, ...change } = {}) {
      const { method, path, body } = { ...samples[kind], ...change }
      const address = kind === 'operation' && path === '' ? operation : path
      return edge.fetch(address, {
        method,
        ...(as === undefined ? {} : { as }),
        ...(body === undefined ? {} : { body }),
        headers: { 'content-type': 'application/json' },
      })
    },
    [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose](),
  }
}

/** The path of a running operation: nothing reconciles in these tests, so it stays. */
async function operationOf(edge: TestEdge): Promise<string> {
  const { method, path, body = '' } = samples.resource
  const made = await edge.fetch(path.replace('/w?', '/o?'), {
    method,
    body,
    headers: { 'content-type': 'application/json' },
  })
  const link = made.headers.get('vendor-asyncoperation')
  assert.ok(link, `${made.status} ${await made.text()}`)
  const address = new URL(link)
  return `${address.pathname}${address.search}`
}

const all = kinds
const planeKinds: readonly EndpointKind[] = ['resource', 'collection', 'action', 'operation']

/** What a step refuses, and its columns. In all other columns the same request must pass. */
const rows: readonly {
  readonly step: string
  readonly kinds: readonly EndpointKind[]
  readonly status: number | readonly number[]
  ask(server: Started, kind: EndpointKind): Promise<Response>
}[] = [
  {
    step: 'authenticate',
    kinds: all.filter((kind) => kind !== 'open'),
    status: 401,
    ask: (server, kind) => server.ask(kind, { as: '' }),
  },
  {
    step: 'authorize',
    // The business application decides by its own permission sets.
    kinds: [...planeKinds, 'directory'],
    // An operation is hidden from whoever may not read its resource.
    status: [403, 404],
    ask: (server, kind) => server.ask(kind, { as: 'nobody' }),
  },
  {
    step: 'locate',
    kinds: planeKinds,
    status: [400, 404],
    ask: (server, kind) => {
      const { nowhere } = samples[kind]
      return server.ask(kind, nowhere === undefined ? {} : { path: nowhere })
    },
  },
  {
    step: 'readBody',
    kinds: kinds.filter((kind) => samples[kind].readsJson),
    status: 400,
    ask: (server, kind) => server.ask(kind, samples[kind].readsJson ? { body: '{"cut off' } : {}),
  },
]

describe('the matrix', () => {
  test('a request of each kind passes all steps, and carries its id', async () => {
    await using server = await start()
    for (const kind of kinds) {
      const answer = await server.ask(kind)
      assert.ok(answer.ok, `${kind}: ${answer.status} ${await answer.text()}`)
      assert.match(answer.headers.get('x-ms-request-id') ?? '', /^[0-9a-f-]{36}$/, kind)
    }
  })

  for (const row of rows) {
    test(`${row.step} refuses in its columns and in no other`, async () => {
      await using server = await start()
      await server.ask('resource')
      for (const kind of kinds) {
        const { status } = await row.ask(server, kind)
        const expected = row.kinds.includes(kind) ? [row.status].flat() : [200, 201, 202]
        assert.ok(expected.includes(status), `${kind}: ${status}`)
      }
    })
  }

  test('until a path is located it is in the column of resources, so the rows up to there are alike', () => {
    const before = matrix.slice(0, matrix.findIndex(({ step }) => step === locate) + 1)
    assert.equal(before.length, 3)
    for (const { kinds } of before) {
      for (const kind of planeKinds) assert.equal(kinds.has(kind), kinds.has('resource'), kind)
    }
  })

  test('throttle counts in every column but the open one', async () => {
    const none = { size: 2, refillPerSecond: 0.0001 }
    const rules = { reads: none, writes: none, deletes: none }
    for (const kind of kinds) {
      await using server = await start({ subscription: rules, tenant: rules, refusesOwner: true })
      const statuses: number[] = []
      for (let count = 0; count < 4; count++) statuses.push((await server.ask(kind)).status)
      assert.equal(statuses.includes(429), kind !== 'open', `${kind}: ${statuses}`)
    }
  })
})
