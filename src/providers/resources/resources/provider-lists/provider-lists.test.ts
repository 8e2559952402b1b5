import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ComputedType } from '#plane/declare/computed.ts'
import type { RouteDescription } from '#plane/plane.ts'
import { askedAt, createMemoryReader, idOf, sampleContext } from '../../../testing/memory-reader.ts'
import { defaultLocations } from '../../domain/locations.ts'
import { providerLists } from './resource.ts'

const sub = '/subscriptions/11111111-1111-4111-8111-111111111111'

function route(type: string, path: string, versions: readonly string[]): RouteDescription {
  return {
    namespace: type.slice(0, type.indexOf('/')),
    type,
    versions,
    compatibleVersions: [],
    method: 'GET',
    path,
    action: `${type}/read`,
    summary: '',
    operationName: '',
    longRunning: false,
    errorFamily: 'resource-manager',
  }
}

let described = 0
const types = providerLists({
  describe: () => {
    described += 1
    return [
      route('Vendor.X/things', '/subscriptions/{s}/providers/Vendor.X/things', ['2020-01-01']),
      route('Vendor.X/things', '/subscriptions/{s}/providers/Vendor.X/things/{t}', ['2021-01-01']),
      route('Vendor.X/events', '/providers/Vendor.X/events', []),
      route('Vendor.A/parts', '/providers/Vendor.A/parts', ['2020-01-01']),
    ]
  },
  locations: defaultLocations,
})
const [atRoot, inSubscription] = types

async function list(type: ComputedType | undefined, parent: string): Promise<readonly unknown[]> {
  const page = await type?.source?.list?.({
    ...sampleContext(createMemoryReader()),
    parent: idOf(parent),
    query: new URLSearchParams(),
    limit: 100,
    cursor: undefined,
  })
  return page?.items ?? []
}

test('lists namespaces with types, versions newest first, and locations', async () => {
  assert.deepEqual(await list(atRoot, '/'), [
    {
      id: '/providers/Vendor.A',
      namespace: 'Vendor.A',
      registrationPolicy: 'RegistrationFree',
      registrationState: 'Registered',
      resourceTypes: [
        {
          resourceType: 'parts',
          locations: [],
          apiVersions: ['2020-01-01'],
          defaultApiVersion: '2020-01-01',
          capabilities: 'None',
        },
      ],
    },
    {
      id: '/providers/Vendor.X',
      namespace: 'Vendor.X',
      registrationPolicy: 'RegistrationFree',
      registrationState: 'Registered',
      resourceTypes: [
        { resourceType: 'events', locations: [], apiVersions: [], capabilities: 'None' },
        {
          resourceType: 'things',
          locations: defaultLocations.map((location) => location.displayName),
          apiVersions: ['2021-01-01', '2020-01-01'],
          defaultApiVersion: '2021-01-01',
          capabilities: 'None',
        },
      ],
    },
  ])
  await list(inSubscription, sub)
  assert.equal(described, 1, 'the table is walked once')
})

test('ids are those of the place they are asked at', async () => {
  const shown = await list(inSubscription, sub)
  assert.deepEqual(
    shown.map((one) => (one as { readonly id: string }).id),
    [`${sub}/providers/Vendor.A`, `${sub}/providers/Vendor.X`],
  )
})

async function get(path: string): Promise<unknown> {
  const type = path.startsWith('/subscriptions') ? inSubscription : atRoot
  return type?.source?.get?.({
    ...sampleContext(createMemoryReader()),
    ...askedAt(path),
    query: new URLSearchParams(),
  })
}

test('one namespace in any case, or the refusal of one that is not there', async () => {
  const one = (await get('/providers/vendor.x')) as { readonly id: string }
  assert.equal(one.id, '/providers/Vendor.X')
  const other = (await get(`${sub}/providers/VENDOR.A`)) as { readonly id: string }
  assert.equal(other.id, `${sub}/providers/Vendor.A`)
  await assert.rejects(async () => get('/providers/Vendor.Nothing'), {
    code: 'InvalidResourceNamespace',
    status: 404,
  })
})

const call = (name: string, namespace: string) => {
  const action = inSubscription?.actions?.[name]
  assert.ok(action !== undefined && action.writes !== true)
  return action.run(
    {
      ...sampleContext(createMemoryReader()),
      id: idOf(`${sub}/providers/${namespace}`),
      resource: undefined,
      query: new URLSearchParams(),
      version: '2021-04-01',
      cursor: undefined,
      pageSize: 100,
      permission: undefined,
    },
    // These actions take no body.
    undefined as never,
  )
}

test('no application of a namespace holds a role', async () => {
  const outcome = await call('providerPermissions', 'vendor.x')
  assert.deepEqual(outcome, { status: 200, body: { value: [] } })
  await assert.rejects(async () => call('providerPermissions', 'Vendor.Nothing'), {
    code: 'InvalidResourceNamespace',
  })
})

test('the types of a namespace are a list of their own', async () => {
  const outcome = await call('resourceTypes', 'Vendor.X')
  const { resourceTypes } = ((await call('register', 'Vendor.X'))?.body ?? {}) as {
    readonly resourceTypes?: readonly object[]
  }
  assert.ok(resourceTypes !== undefined && resourceTypes.length > 0)
  assert.deepEqual(outcome, { status: 200, body: { value: resourceTypes } })
})

test('registering and unregistering answer with the namespace, which stays registered', async () => {
  for (const name of ['register', 'unregister']) {
    const outcome = await call(name, 'Vendor.X')
    assert.equal(outcome?.status, 200)
    const { registrationState } = (outcome?.body ?? {}) as { readonly registrationState?: string }
    assert.equal(registrationState, 'Registered')
  }
})
