/** Tags as a resource: on scopes of every kind, with a right of their own, and protected by locks. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal } from '#kernel/principal.ts'
import { ask } from '#plane/testing/ask.ts'
import { owner } from '#plane/testing/start.ts'
import { group, type Started, startDeployments, subscription } from '../../testing/start.ts'

const at = (scope: string): string => `${scope}/providers/Vendor.Resources/tags/default`
const version = '2021-04-01'
const tagger: Principal = { ...owner, id: '77777777-2222-4333-8444-555555555555' }
const contributor = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
const tagContributor = '4a9ae827-6dc8-4573-8ac7-8239d42aa03f'

async function start(): Promise<Started> {
  const started = await startDeployments()
  await started.call('PUT', group, { location: 'local', tags: { a: '1' } }, { version })
  return started
}

async function tagsAt({ call }: Started, scope: string): Promise<unknown> {
  const { body } = await call('GET', at(scope), undefined, { version })
  return JSON.parse(JSON.stringify(body)).properties.tags
}

test('tags are read, said, merged, replaced and taken away, and are those of the group itself', async () => {
  await using started = await start()
  const { call } = started
  assert.deepEqual(await tagsAt(started, group), { a: '1' })
  const put = await call('PUT', at(group), { properties: { tags: { b: '2' } } }, { version })
  assert.deepEqual(
    [put.status, put.body],
    [
      200,
      {
        id: at(group),
        name: 'default',
        type: 'Vendor.Resources/tags',
        properties: { tags: { b: '2' } },
      },
    ],
  )
  const patch = async (operation: string, tags: object): Promise<unknown> => {
    await call('PATCH', at(group), { operation, properties: { tags } }, { version })
    return tagsAt(started, group)
  }
  assert.deepEqual(await patch('merge', { B: '3', c: '4' }), { B: '3', c: '4' })
  assert.deepEqual(await patch('Delete', { b: 'other', C: '4' }), { B: '3' })
  assert.deepEqual(await patch('Replace', { d: '5' }), { d: '5' })
  const shown = await call('GET', group, undefined, { version })
  assert.deepEqual(JSON.parse(JSON.stringify(shown.body)).tags, { d: '5' })
  assert.equal((await call('DELETE', at(group), undefined, { version })).status, 200)
  assert.deepEqual(await tagsAt(started, group), {})
})

test('of several with one If-Match at once, one is written', async () => {
  await using started = await start()
  const { plane, call } = started
  const { etag } = await call('GET', at(group), undefined, { version })
  const outcomes = await Promise.allSettled(
    (['PUT', 'PUT', 'PATCH', 'DELETE', 'PUT'] as const).map((method, n) => {
      const properties = { tags: { t: `${n}` } }
      const body = method === 'PATCH' ? { operation: 'Merge', properties } : { properties }
      return ask(plane, method, at(group), body, { as: owner, version, ifMatch: `"${etag}"` })
    }),
  )
  assert.deepEqual(
    outcomes.map((one) => (one.status === 'rejected' ? one.reason.status : 0)).sort(),
    [0, 412, 412, 412, 412],
  )
})

test('what many change at once is all there', async () => {
  await using started = await start()
  const { call } = started
  const patch = (operation: string, tags: object): Promise<unknown> =>
    call('PATCH', at(group), { operation, properties: { tags } }, { version })
  const names = Array.from({ length: 12 }, (_, at) => `t${at}`)
  await Promise.all(names.map((name) => patch('Merge', { [name]: 'v' })))
  assert.deepEqual(Object.keys((await tagsAt(started, group)) as object).sort(), [
    'a',
    ...names.toSorted(),
  ])
  await Promise.all(names.map((name) => patch('Delete', { [name]: 'v' })))
  assert.deepEqual(await tagsAt(started, group), { a: '1' })
})

test('those who change the tags of one resource at once do not lose to each other', async () => {
  await using started = await start()
  const { call, store } = started
  let read = 0
  const get = store.get.bind(store)
  store.get = (key) => {
    if (key === group.toLowerCase()) read++
    return get(key)
  }
  const names = Array.from({ length: 20 }, (_, at) => `t${at}`)
  const patch = (name: string): Promise<unknown> =>
    call(
      'PATCH',
      at(group),
      { operation: 'Merge', properties: { tags: { [name]: 'v' } } },
      { version },
    )
  await Promise.all(names.map(patch))
  assert.ok(read < 100, `read ${read} times`)
})

test('a subscription and a resource have them too; what has none is refused', async () => {
  await using started = await start()
  const { call } = started
  const vault = `${group}/providers/Vendor.Secrets/vaults/one`
  await call('PUT', vault, { location: 'local', properties: {} }, { version: '2026-01-01' })
  for (const scope of [subscription, vault]) {
    await call('PUT', at(scope), { properties: { tags: { x: 'y' } } }, { version })
    assert.deepEqual(await tagsAt(started, scope), { x: 'y' })
  }
  const lock = `${group}/providers/Vendor.Authorization/locks/one`
  await call('PUT', lock, { properties: { level: 'CanNotDelete' } }, { version: '2020-05-01' })
  const tags = { properties: { tags: { x: 'y' } } }
  await assert.rejects(call('PUT', at(lock), tags, { version }), { status: 400 })
  await assert.rejects(call('GET', at(`${vault}2`), undefined, { version }), { status: 404 })
  await assert.rejects(call('GET', at(group).replace('default', 'other'), undefined, { version }), {
    status: 404,
  })
  const bad = { properties: { tags: { 'a<b': 'y' } } }
  await assert.rejects(call('PUT', at(group), bad, { version }), { status: 400 })
})

test('a right to tags is enough, and is no right to the group; a lock holds both', async () => {
  await using started = await start()
  const { call } = started
  const roleDefinitionId = `/providers/Vendor.Authorization/roleDefinitions/${tagContributor}`
  const assignment = `${group}/providers/Vendor.Authorization/roleAssignments/${tagger.id}`
  const tags = { properties: { tags: { mine: 'yes' } } }
  await assert.rejects(call('PUT', at(group), tags, { version, as: tagger }), { status: 403 })
  await call(
    'PUT',
    assignment,
    { properties: { principalId: tagger.id, roleDefinitionId, principalType: 'User' } },
    { version: '2022-04-01' },
  )
  assert.equal((await call('PUT', at(group), tags, { version, as: tagger })).status, 200)
  await assert.rejects(call('PATCH', group, { tags: {} }, { version, as: tagger }), { status: 403 })
  const lock = `${group}/providers/Vendor.Authorization/locks/one`
  await call('PUT', lock, { properties: { level: 'ReadOnly' } }, { version: '2020-05-01' })
  await assert.rejects(call('PUT', at(group), tags, { version, as: tagger }), {
    status: 409,
    code: 'ScopeLocked',
  })
})

test('a condition on writing a resource holds for its tags as well', async () => {
  await using started = await start()
  const { call } = started
  const vaultOf = (name: string): string => `${group}/providers/Vendor.Secrets/vaults/${name}`
  for (const env of ['prod', 'dev']) {
    const body = { location: 'local', properties: {}, tags: { env } }
    await call('PUT', vaultOf(env), body, { version: '2026-01-01' })
  }
  const condition =
    "!(ActionMatches{'Vendor.Secrets/vaults/*'}) OR @Resource[Vendor.Resources/resources/tags:env] StringEquals 'dev'"
  const properties = {
    principalId: tagger.id,
    roleDefinitionId: `/providers/Vendor.Authorization/roleDefinitions/${contributor}`,
    principalType: 'User',
    condition,
    conditionVersion: '2.0',
  }
  const assignment = `${group}/providers/Vendor.Authorization/roleAssignments/${tagger.id}`
  await call('PUT', assignment, { properties }, { version: '2022-04-01' })
  const as = { version, as: tagger }
  const tags = (env: string) => ({ properties: { tags: { env } } })
  const denied = { status: 403, code: 'AuthorizationFailed' }
  await assert.rejects(call('PUT', at(vaultOf('prod')), tags('dev'), as), denied)
  const merge = { operation: 'Merge', ...tags('dev') }
  await assert.rejects(call('PATCH', at(vaultOf('prod')), merge, as), denied)
  await assert.rejects(call('DELETE', at(vaultOf('prod')), undefined, as), denied)
  assert.deepEqual(await tagsAt(started, vaultOf('prod')), { env: 'prod' })
  await call('PATCH', at(vaultOf('dev')), { operation: 'Merge', ...tags('dev') }, as)
})

test('the tag names of a subscription are those in use on its groups and resources, with how often', async () => {
  await using started = await start()
  const { call } = started
  const vault = `${group}/providers/Vendor.Secrets/vaults/one`
  const body = { location: 'local', properties: {}, tags: { A: '2', owner: 'me' } }
  await call('PUT', vault, body, { version: '2026-01-01' })
  const { body: listed } = await call('GET', `${subscription}/tagNames`, undefined, { version })
  const id = `${subscription}/tagNames`
  const one = (value: number) => ({ type: 'Total', value })
  assert.deepEqual(JSON.parse(JSON.stringify(listed)).value, [
    {
      id: `${id}/a`,
      tagName: 'a',
      count: one(2),
      values: [
        { id: `${id}/a/tagValues/1`, tagValue: '1', count: one(1) },
        { id: `${id}/a/tagValues/2`, tagValue: '2', count: one(1) },
      ],
    },
    {
      id: `${id}/owner`,
      tagName: 'owner',
      count: one(1),
      values: [{ id: `${id}/owner/tagValues/me`, tagValue: 'me', count: one(1) }],
    },
  ])
  await assert.rejects(call('GET', id, undefined, { version, as: tagger }), { status: 403 })
})

test('tag names and their values may be declared beforehand, and are listed while something carries them', async () => {
  await using started = await start()
  const call = async (method: 'GET' | 'PUT' | 'DELETE', path: string) => {
    const given = method === 'PUT' ? {} : undefined
    const { status, body } = await started.call(method, path, given, { version })
    return { status, body: JSON.parse(JSON.stringify(body ?? null)) }
  }
  const names = `${subscription}/tagNames`
  const one = `${names}/owner`
  const none = { type: 'Total', value: 0 }
  const made = await call('PUT', one)
  assert.deepEqual(made, {
    status: 201,
    body: { id: one, tagName: 'owner', count: none, values: [] },
  })
  assert.equal((await call('PUT', one)).status, 200)
  const value = `${one}/tagValues/me`
  assert.deepEqual((await call('PUT', value)).body, { id: value, tagValue: 'me', count: none })
  const used = `${names}/a/tagValues/1`
  await assert.rejects(call('PUT', used), { status: 404 })
  await call('PUT', `${names}/a`)
  assert.equal((await call('PUT', used)).status, 201)
  const { body: listed } = await call('GET', names)
  const shown = listed.value.map((tag: { tagName: string; count: { value: number } }) => [
    tag.tagName,
    tag.count.value,
  ])
  assert.deepEqual(shown, [
    ['a', 1],
    ['owner', 0],
  ])
  for (const path of [used, `${names}/a`]) assert.equal((await call('DELETE', path)).status, 200)
  assert.equal((await call('DELETE', value)).status, 200)
  assert.equal((await call('DELETE', one)).status, 200)
  assert.equal((await call('DELETE', one)).status, 204)
  // What something carries is in the list, whoever declared it.
  assert.deepEqual((await call('GET', names)).body.value, [{ ...listed.value[0] }])
})

test('names and values of tags are counted up to a bound of characters, a page at a time', async () => {
  await using started = await start()
  const { call } = started
  const name = (at: number): string => `${at}`.padEnd(500, 'n')
  for (let one = 0; one < 100; one++) {
    const tags = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [name(at), `${one}`.padEnd(250, 'v')]),
    )
    const path = `${subscription}/resourceGroups/tagged-${one}`
    await call('PUT', path, { location: 'local', tags }, { version })
  }
  const { body } = await call('GET', `${subscription}/tagNames`, undefined, { version })
  const { value } = JSON.parse(JSON.stringify(body)) as { value: { values: object[] }[] }
  const found = value.flatMap(({ values }) => values)
  assert.ok(found.length > 2_000 && found.length < 4_200, `${found.length} of 5,000 values`)
  assert.ok(JSON.stringify(found).length < 6 * 1024 * 1024)
})

for (const [what, groups, tags, atMost] of [
  ['bytes of groups', 700, 40, 680],
  ['tags', 1_600, 50, 1_500],
] as const) {
  test(`tag names are counted up to a bound of ${what} that are read`, async () => {
    await using started = await start()
    const first = await started.store.get(group.toLowerCase())
    assert.ok(first !== undefined)
    const width = what === 'tags' ? 4 : 800
    const many = Object.fromEntries(
      Array.from({ length: tags - 1 }, (_, at) => [`t${at}`, 'v'.padEnd(width, 'v')]),
    )
    const document = JSON.stringify({ ...JSON.parse(first.document), tags: { a: '1', ...many } })
    await started.store.transact(async (tx) => {
      for (let at = 0; at < groups; at++) {
        const id = `${group}-${at}`
        await tx.insert({
          ...first,
          key: id.toLowerCase(),
          id,
          document,
          etag: `${at}`.padStart(16, '0'),
        })
      }
    })
    const { body } = await started.call('GET', `${subscription}/tagNames`, undefined, { version })
    const { value } = JSON.parse(JSON.stringify(body))
    const counted = value[0].count.value
    assert.ok(counted > atMost / 2 && counted <= atMost, `${counted} of ${groups} groups`)
  })
}
