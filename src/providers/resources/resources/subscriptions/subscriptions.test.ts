import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import { actionOf } from '#plane/access.ts'
import type { WritingContext } from '#plane/declare/action.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { askedAt, createMemoryReader, idOf, sampleContext } from '../../../testing/memory-reader.ts'
import { subscriptionActions } from './actions.ts'
import type { Subscription } from './model.ts'
import { subscriptions } from './resource.ts'
import { v2019_11_01 } from './versions/2019-11-01.ts'

const guid = (n: number): string => `11111111-1111-4111-8111-00000000000${n}`
const tenantId = '00000000-0000-4000-8000-0000000000ff'
const type = subscriptions({ tenantId, scanRowsMax: 3 })
const enabled: Subscription = { displayName: 'One', state: 'Enabled', tags: {} }

test('the list holds exactly what the caller may read, over any number of pages', async () => {
  const reader = createMemoryReader()
  for (let n = 0; n < 9; n++) reader.put(`/subscriptions/${guid(n)}`, enabled)
  const readable = new Set([1, 4, 5, 8].map((n) => `/subscriptions/${guid(n)}`))
  const asked = new Set<string>()
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await type.list?.page?.({
      ...sampleContext(reader, {
        may: (action, scope) => {
          asked.add(actionOf(action))
          // The check may have to ask a store.
          return Promise.resolve(readable.has(scope.key))
        },
      }),
      parent: idOf('/'),
      query: new URLSearchParams(),
      limit: 2,
      cursor,
    })
    found.push(...(page?.items ?? []).map((item) => item.id.text))
    cursor = page?.next
  } while (cursor !== undefined)
  assert.deepEqual(found, [...readable])
  assert.deepEqual([...asked], ['Resources/subscriptions/read'])
  assert.equal(type.list?.open, true)
})

test('is shown as clients know it', () => {
  const row = createMemoryReader().put(`/subscriptions/${guid(1)}`, enabled)
  const shown = type.envelope?.(row, { ...row, observed: undefined, words: contractWords })
  assert.deepEqual(shown, {
    id: `/subscriptions/${guid(1)}`,
    subscriptionId: guid(1),
    tenantId,
    displayName: 'One',
    state: 'Enabled',
    subscriptionPolicies: {
      locationPlacementId: 'Public_2014-09-01',
      quotaId: 'Unlimited_2014-09-01',
      spendingLimit: 'Off',
    },
    authorizationSource: 'RoleBased',
    managedByTenants: [],
  })
})

test('a disabled one refuses writes below it', () => {
  const row = createMemoryReader().put(`/subscriptions/${guid(1)}`, enabled)
  type.container?.allowsChildren?.(row)
  const disabled = { ...row, model: { ...enabled, state: 'Disabled' } }
  assert.throws(() => type.container?.allowsChildren?.(disabled), {
    code: 'ReadOnlyDisabledSubscription',
    status: 409,
  })
})

test('a PUT keeps the state, and a name that is left out', () => {
  const previous: Subscription = { displayName: 'Kept', state: 'Disabled', tags: { a: 'b' } }
  // Valid bodies; this type's `toModel` needs no context.
  const model = v2019_11_01.toModel({} as never, previous, undefined as never)
  assert.deepEqual(model, { displayName: 'Kept', state: 'Disabled', tags: {} })
  const fresh = v2019_11_01.toModel({ displayName: 'New' } as never, undefined, undefined as never)
  assert.deepEqual(fresh, { displayName: 'New', state: 'Enabled', tags: {} })
})

test('a PATCH changes what it names', () => {
  const { patch } = v2019_11_01
  assert.ok(typeof patch === 'object')
  const previous: Subscription = { displayName: 'Old', state: 'Disabled', tags: { a: 'b' } }
  const apply = (body: object) => patch.apply(body as never, previous, undefined as never)
  assert.deepEqual(apply({ displayName: 'New' }), { ...previous, displayName: 'New' })
  assert.deepEqual(apply({ tags: { c: 'd' } }), { ...previous, tags: { c: 'd' } })
  assert.deepEqual(apply({}), previous)
})

const acts: readonly [action: string, body: object, change: Partial<Subscription> | undefined][] = [
  ['cancel', {}, { state: 'Disabled' }],
  ['enable', {}, undefined],
  ['rename', { subscriptionName: 'Two' }, { displayName: 'Two' }],
  ['rename', { subscriptionName: 'One' }, undefined],
]
for (const [name, body, change] of acts) {
  test(`${name} ${JSON.stringify(body)} writes ${JSON.stringify(change) ?? 'nothing'}`, async () => {
    const reader = createMemoryReader()
    // The row was just created with this model.
    const resource = reader.put(`/subscriptions/${guid(1)}`, enabled) as Resource<Subscription>
    const context: WritingContext<Subscription> = {
      ...sampleContext(reader),
      id: resource.id,
      resource,
      query: new URLSearchParams(),
      version: '2019-11-01',
      cursor: undefined,
      pageSize: 100,
      permission: undefined,
    }
    const outcome = await subscriptionActions[name]?.run(context, body as never)
    assert.equal(outcome?.status, 200)
    assert.deepEqual(outcome?.body, { subscriptionId: guid(1) })
    assert.deepEqual(outcome?.model, change === undefined ? undefined : { ...enabled, ...change })
  })
}

test('one that is brought into being is enabled and named', () => {
  const { principal, now } = sampleContext(createMemoryReader())
  const made = type.container?.createImplicitly?.(idOf(`/subscriptions/${guid(1)}`), {
    principal,
    now,
  })
  assert.deepEqual(made?.model, {
    displayName: 'Subscription 11111111',
    state: 'Enabled',
    tags: {},
  })
})

test('tags follow the rules of tags', async () => {
  const reader = createMemoryReader()
  const problems = await type.rules?.({
    ...sampleContext(reader),
    ...askedAt(`/subscriptions/${guid(1)}`),
    desired: { ...enabled, tags: { 'a<b': 'c' } },
    previous: undefined,
    location: undefined,
    tags: undefined,
  })
  assert.equal(problems?.length, 1)
})
