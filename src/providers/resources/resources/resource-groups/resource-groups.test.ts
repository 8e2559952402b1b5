import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import type { Subject } from '#plane/declare/reconciled.ts'
import { createMemoryReader, idOf, sampleContext } from '../../../testing/memory-reader.ts'
import { listGroups } from './list.ts'
import { groupNamePattern, type ResourceGroup } from './model.ts'
import { deleteWithContent, nextLook } from './reconcile.ts'
import { resourceGroups } from './resource.ts'
import { resourceGroupVersions, v2021_04_01 } from './versions/2021-04-01.ts'

const sub = '/subscriptions/11111111-1111-4111-8111-111111111111'

const names: readonly [name: string, valid: boolean][] = [
  ['rg', true],
  ['My-Group_1.(a)', true],
  ['gruppe-ä', true],
  ['x'.repeat(90), true],
  ['x'.repeat(91), false],
  ['ends.', false],
  ['a b', false],
  ['a/b', false],
  ['a+b', false],
  ['', false],
]
for (const [name, valid] of names) {
  test(`'${name.slice(0, 20)}' (${name.length}) is ${valid ? 'a' : 'no'} group name`, () => {
    assert.equal(groupNamePattern.test(name), valid)
  })
}

const looks: readonly [remaining: number, removed: number, kind: string][] = [
  [0, 0, 'done'],
  [0, 200, 'done'],
  [1, 200, 'step'],
  [5, 0, 'wait'],
]
for (const [remaining, removed, kind] of looks) {
  test(`deleting with ${remaining} left and ${removed} just removed: ${kind}`, () => {
    assert.equal(nextLook({ remaining, removed }).kind, kind)
  })
}

const subjectOf = (id: Subject<ResourceGroup, unknown>['id']): Subject<ResourceGroup, unknown> => ({
  id,
  desired: {},
  model: {},
  location: 'local',
  tags: undefined,
  last: undefined,
  generation: 1,
  token: 'x',
  state: 'Succeeded',
  now: 0,
  log: silentLog,
})

test('only a deletion empties the group; PUT is done at once', async () => {
  const emptied: string[] = []
  const reconciler = deleteWithContent(
    (id) => {
      emptied.push(id.text)
      return Promise.resolve({ remaining: 3, removed: 2 })
    },
    () => {},
  )
  const subject = subjectOf(idOf(`${sub}/resourceGroups/rg`))
  assert.equal(reconciler.next(subject, await reconciler.observe(subject)).kind, 'done')
  assert.deepEqual(emptied, [])
  const deleting = { ...subject, desired: undefined }
  assert.equal(reconciler.next(deleting, await reconciler.observe(deleting)).kind, 'step')
  assert.deepEqual(emptied, [subject.id.text])
  assert.equal(reconciler.states.creating, 'Succeeded')
  assert.equal(reconciler.states.updating, 'Succeeded')
})

test('the last resource that goes wakes the group it was in', async () => {
  const settled: ((key: string) => void)[] = []
  const reconciler = deleteWithContent(
    async () => ({ remaining: 2, removed: 0 }),
    (callback) => void settled.push(callback),
  )
  const woken: string[] = []
  reconciler.watchEvents?.((key) => woken.push(key), new AbortController().signal)
  const id = idOf(`${sub}/resourceGroups/rg`)
  const settle = (path: string) => {
    for (const callback of settled) callback(idOf(path).key)
  }
  settle(`${sub}/resourceGroups/rg/providers/Vendor.Sample/valves/early`)
  await reconciler.observe({ ...subjectOf(id), desired: undefined })
  settle(`${sub}/resourceGroups/rg/providers/Vendor.Sample/valves/a`)
  settle(`${sub}/resourceGroups/other/providers/Vendor.Sample/valves/a`)
  assert.deepEqual(woken, [])
  settle(`${sub}/resourceGroups/rg/providers/Vendor.Sample/valves/b`)
  assert.deepEqual(woken, [id.key])
  settle(`${sub}/resourceGroups/rg/providers/Vendor.Sample/valves/late`)
  assert.deepEqual(woken, [id.key])
})

test('a group that is being deleted refuses writes of itself and below', () => {
  const type = resourceGroups({
    emptyScope: () => Promise.resolve({ remaining: 0, removed: 0 }),
    onSettled: () => {},
    implicitLocation: 'local',
    scanRowsMax: 10,
  })
  const reader = createMemoryReader()
  const healthy = reader.put(`${sub}/resourceGroups/rg`, {}, { location: 'local' })
  const dying = { ...healthy, state: 'Deleting' }
  type.container?.allowsChildren?.(healthy)
  const refusal = { code: 'ResourceGroupBeingDeleted', status: 409 }
  assert.throws(() => type.container?.allowsChildren?.(dying), refusal)
  assert.equal(type.busy?.(dying).code, 'ResourceGroupBeingDeleted')
  const moved = type.tracked?.refuseMove?.(healthy, 'westus')
  assert.equal(moved?.code, 'InvalidResourceGroupLocation')
  assert.equal(moved?.status, 409)
})

test('every version has the one shape, under its own date', () => {
  const dates = resourceGroupVersions.map((version) => version.date)
  assert.equal(new Set(dates).size, dates.length)
  assert.ok(dates.includes('2021-04-01'))
  assert.ok(resourceGroupVersions.every((version) => version.body === v2021_04_01.body))
})

test('groups are filtered by one and the same tag', async () => {
  const reader = createMemoryReader()
  const put = (name: string, tags: Record<string, string>) =>
    reader.put(`${sub}/resourceGroups/${name}`, {}, { tags })
  put('a', { env: 'prod', team: 'x' })
  put('b', { Env: 'prod' })
  put('c', { env: 'test', other: 'prod' })
  put('d', {})
  const list = async (filter: string) => {
    const context = {
      ...sampleContext(reader),
      parent: idOf(sub),
      query: new URLSearchParams({ $filter: filter }),
      limit: 10,
      cursor: undefined,
    }
    const page = await listGroups(context, 100)
    return page.items.map((group) => group.id.text.at(-1)).join('')
  }
  assert.equal(await list(''), 'abcd')
  assert.equal(await list("tagName eq 'env' and tagValue eq 'prod'"), 'ab')
  assert.equal(await list("tagName eq 'team'"), 'a')
  await assert.rejects(list("colour eq 'red'"), { code: 'InvalidFilterInQueryString' })
  await assert.rejects(list('tagName eq'), { code: 'InvalidFilterInQueryString' })
})
