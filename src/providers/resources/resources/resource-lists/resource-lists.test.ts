import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionOf } from '#plane/access.ts'
import { createMemoryReader, idOf, sampleContext } from '../../../testing/memory-reader.ts'
import {
  parseExpand,
  parseItemFilter,
  showItem,
  type TrackedItem,
} from '../../domain/resource-list-item.ts'
import { type ListTracked, resourceLists } from './resource.ts'

const sub = '/subscriptions/11111111-1111-4111-8111-111111111111'

function item(path: string, extra: Partial<TrackedItem['resource']>, summary = {}): TrackedItem {
  const resource = createMemoryReader().put(path, {}, extra)
  return { resource, wireType: 'Vendor.X/things', summary }
}

const web = item(
  `${sub}/resourceGroups/Shop/providers/Vendor.X/things/web-demo`,
  { location: 'West US', tags: { Env: 'prod', dept: 'it' } },
  {
    identity: { type: 'SystemAssigned', principalId: 'p1' },
    plan: { name: 'big', publisher: 'me' },
  },
)
const bare = item(`${sub}/resourceGroups/back/providers/Vendor.X/things/store`, {
  location: 'northeurope',
})

const filters: readonly [filter: string, web: boolean, bare: boolean][] = [
  ['', true, true],
  ["location eq 'westus'", true, false],
  ["location eq 'WEST US'", true, false],
  ["location ne 'westus'", false, true],
  ["'west us' eq location", true, false],
  ["resourceType eq 'vendor.x/THINGS'", true, true],
  ["name eq 'STORE'", false, true],
  ["resourceGroup eq 'shop'", true, false],
  ["substringof('demo', name)", true, false],
  ["substringof('SHO', resourceGroup)", true, false],
  ["tagName eq 'env' and tagValue eq 'prod'", true, false],
  ["tagName eq 'dept' and tagValue eq 'prod'", false, false],
  ["startswith(tagName,'de')", true, false],
  ["identity/principalId eq 'p1'", true, false],
  ["plan/publisher eq 'me'", true, false],
  ["name eq 'store' or location eq 'westus'", true, true],
  ["resourceType eq 'Vendor.X/things' and location eq 'north europe'", false, true],
]
for (const [filter, first, second] of filters) {
  test(`the filter ${filter === '' ? '(none)' : filter}`, () => {
    const { matches } = parseItemFilter(filter)
    assert.deepEqual([matches(web), matches(bare)], [first, second])
  })
}

for (const filter of ["colour eq 'red'", 'name eq', 'location eq 5', 'name', 'frobnicate(name)']) {
  test(`refuses the filter ${filter}`, () => {
    assert.throws(() => parseItemFilter(filter), {
      code: 'InvalidFilterInQueryString',
      status: 400,
    })
  })
}

test('a filter that says the type of every match names it, so that others are not looked at', () => {
  const named: readonly [filter: string, wireType: string | undefined][] = [
    ["resourceType eq 'Vendor.X/things'", 'Vendor.X/things'],
    ["'Vendor.X/things' eq RESOURCETYPE", 'Vendor.X/things'],
    ["(substringof('a', name)) and resourceType eq 'Vendor.X/things'", 'Vendor.X/things'],
    ["resourceType eq 'Vendor.X/things' or name eq 'a'", undefined],
    ["not (resourceType eq 'Vendor.X/things')", undefined],
    ["resourceType ne 'Vendor.X/things'", undefined],
    ["name eq 'Vendor.X/things'", undefined],
    ['', undefined],
  ]
  for (const [filter, wireType] of named) assert.equal(parseItemFilter(filter).wireType, wireType)
})

test('shows the envelope and the summary; tags are left out where they were asked for', () => {
  const shown = showItem(web, new Set(), true)
  assert.deepEqual(shown, {
    id: web.resource.id.text,
    name: 'web-demo',
    type: 'Vendor.X/things',
    location: 'West US',
    tags: { Env: 'prod', dept: 'it' },
    ...web.summary,
  })
  assert.equal(parseItemFilter("tagName eq 'env'").asksTags, true)
  assert.equal(parseItemFilter("name eq 'env'").asksTags, false)
  assert.ok(!('tags' in showItem(web, new Set(), false)))
})

test('expands what is asked for and refuses the rest', () => {
  const shown = showItem(web, parseExpand('createdtime, changedTime,provisioningState'), true)
  const { createdTime, changedTime, provisioningState } = shown as Record<string, unknown>
  assert.equal(createdTime, web.resource.systemData.createdAt)
  assert.equal(changedTime, web.resource.systemData.lastModifiedAt)
  assert.equal(provisioningState, 'Succeeded')
  assert.throws(() => parseExpand('secrets'), { code: 'InvalidQueryParameter' })
})

test('lists across types, past groups that are no members', async () => {
  const asked: string[] = []
  const rows = ['a', 'b', 'c', 'd', 'e'].map((name) =>
    createMemoryReader().put(`${sub}/resourceGroups/g/providers/Vendor.X/things/${name}`, {
      size: name,
    }),
  )
  const listTracked: ListTracked = ({ under, after, limit }) => {
    asked.push(under.text)
    const page = rows.filter((row) => after === undefined || row.id.key > after).slice(0, limit)
    const last = page.at(-1)
    return Promise.resolve({
      // `b` is a group: read, and left out.
      items: page
        .filter((row) => !row.id.key.endsWith('b'))
        .map((resource) => ({
          resource,
          compiled: {
            wireType: 'Vendor.X/things',
            stored: { type: 'X/things', summary: (model) => ({ sku: model }) },
          },
        })),
      ...(page.length === limit && last !== undefined ? { next: last.id.key } : {}),
    })
  }
  const types = resourceLists({ listTracked, scanRowsMax: 4 })
  assert.deepEqual(
    types.map((type) => type.type),
    ['Resources/subscriptions/resources', 'Resources/subscriptions/resourceGroups/resources'],
  )
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await types[0]?.source?.list?.({
      ...sampleContext(createMemoryReader()),
      parent: idOf(sub),
      query: new URLSearchParams(),
      limit: 2,
      cursor,
    })
    for (const one of page?.items ?? []) {
      const { name, sku } = one as {
        readonly name: string
        readonly sku: { readonly size: string }
      }
      assert.equal(sku.size, name)
      found.push(name)
    }
    cursor = page?.next
  } while (cursor !== undefined)
  assert.deepEqual(found, ['a', 'c', 'd', 'e'])
  assert.ok(asked.every((under) => under === sub))
})

test('who may not read all of them is shown those that a role reaches, each judged by its own action', async () => {
  const rows = ['a', 'b', 'c'].map((name) =>
    createMemoryReader().put(`${sub}/resourceGroups/${name}/providers/Vendor.X/things/t`, {}),
  )
  const compiled = { wireType: 'Vendor.X/things', stored: { type: 'X/things' } }
  const listTracked: ListTracked = () =>
    Promise.resolve({ items: rows.map((resource) => ({ resource, compiled })) })
  const asked: string[] = []
  const [type] = resourceLists({ listTracked, scanRowsMax: 4 })
  const page = await type?.source?.list?.({
    ...sampleContext(createMemoryReader(), {
      may: (action, scope) => {
        asked.push(actionOf(action))
        return Promise.resolve(scope.key.includes('/resourcegroups/b/'))
      },
    }),
    parent: idOf(sub),
    query: new URLSearchParams(),
    limit: 5,
    cursor: undefined,
  })
  assert.deepEqual(
    page?.items.map((one) => (one as { readonly id: string }).id),
    [rows[1]?.id.text],
  )
  assert.deepEqual([...new Set(asked)], ['Resources/subscriptions/resources/read', 'X/things/read'])
})
