import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWithin, scopeOf } from '#kernel/resource-id.ts'
import { fc } from '../../../../../tests/property.ts'
import {
  createMemoryReader,
  idOf,
  type MemoryReader,
  sampleContext,
} from '../../../testing/memory-reader.ts'
import { defaultAuthorizationLimits } from '../../domain/limits.ts'
import { listAssignments } from './list.ts'
import type { RoleAssignment } from './model.ts'

const sub = '/subscriptions/11111111-1111-4111-8111-111111111111'
const scopes = [
  '',
  sub,
  `${sub}/resourceGroups/a`,
  `${sub}/resourceGroups/a-b`,
  `${sub}/resourceGroups/a/providers/Vendor.X/things/t`,
  `${sub}/resourceGroups/a/providers/Vendor.X/things/t/parts/p`,
  '/subscriptions/22222222-2222-4222-8222-222222222222',
]
const guid = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`
const [ann, ben, team] = [guid(1), guid(2), guid(3)]
const directory = {
  find: (id: string) =>
    Promise.resolve(id === team ? ({ type: 'Group', displayName: 'team' } as const) : undefined),
  groupsOf: (id: string) => Promise.resolve(id === ann ? [team] : []),
}

interface Asked {
  readonly parent: string
  readonly filter?: string
  readonly limit: number
  readonly scanRowsMax?: number
}

async function listAll(reader: MemoryReader, asked: Asked): Promise<string[]> {
  const { limit, scanRowsMax = defaultAuthorizationLimits.scanRowsMax } = asked
  const found: string[] = []
  let cursor: string | undefined
  let pages = 0
  do {
    const before: number = reader.rowsRead
    const page = await listAssignments(
      {
        ...sampleContext(reader),
        parent: idOf(asked.parent === '' ? '/' : asked.parent),
        query: new URLSearchParams(asked.filter === undefined ? {} : { $filter: asked.filter }),
        limit,
        cursor,
      },
      { directory, limits: { ...defaultAuthorizationLimits, scanRowsMax } },
    )
    assert.ok(page.items.length <= limit)
    assert.ok(reader.rowsRead - before <= Math.max(scanRowsMax, limit + 1), 'a page is bounded')
    found.push(...page.items.map((item) => item.id.key))
    cursor = page.next
    assert.ok(++pages < 500, 'the list ends')
  } while (cursor !== undefined)
  return found
}

const assignments = fc.array(
  fc.record({ scope: fc.nat(scopes.length - 1), principal: fc.constantFrom(ann, ben, team) }),
  { maxLength: 40 },
)

function fill(rows: readonly { scope: number; principal: string | undefined }[]): MemoryReader {
  const reader = createMemoryReader()
  rows.forEach(({ scope, principal }, at) => {
    const path = `${scopes[scope]}/providers/Vendor.Authorization/roleAssignments/${guid(100 + at)}`
    reader.put(path, { principalId: principal, roleId: guid(9), principalType: 'User' })
  })
  return reader
}

const filters: readonly [
  filter: string | undefined,
  principals: readonly (string | undefined)[],
  below: boolean,
][] = [
  [undefined, [ann, ben, team], true],
  ['atScope()', [ann, ben, team], false],
  [`principalId eq '${ann}'`, [ann], true],
  [`assignedTo('${ann}')`, [ann, team], true],
  [`atScope() and assignedTo('${ann}')`, [ann, team], false],
  [`atScope() and principalId eq '${ben}'`, [ben], false],
]

for (const [filter, principals, below] of filters) {
  test(`pages of any size, joined, are the list: ${filter ?? 'no filter'}`, async () => {
    await fc.assert(
      fc.asyncProperty(
        assignments,
        fc.constantFrom(...scopes),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 9 }),
        async (rows, parent, limit, scanRowsMax) => {
          const reader = fill(rows)
          const parentKey = parent === '' ? '/' : parent.toLowerCase()
          const all = await reader.list({
            type: 'Authorization/roleAssignments',
            under: '/',
            limit: 999,
          })
          const expected = all.filter((row) => {
            const scopeKey = scopeOf(row.id).key
            const reached =
              isWithin(parentKey, scopeKey) || (below && isWithin(scopeKey, parentKey))
            return reached && principals.includes((row.model as RoleAssignment).principalId)
          })
          const found = await listAll(reader, {
            parent,
            ...(filter === undefined ? {} : { filter }),
            limit,
            scanRowsMax,
          })
          assert.deepEqual([...found].sort(), expected.map((row) => row.id.key).sort())
        },
      ),
      { numRuns: 60 },
    )
  })
}

test('scopes above come first, from the root down', async () => {
  const reader = fill([4, 2, 1, 0].map((scope) => ({ scope, principal: ann })))
  const found = await listAll(reader, { parent: scopes[2] ?? '', limit: 2 })
  assert.deepEqual(
    found.map((key) => scopeOf(idOf(key)).key),
    ['/', scopes[1], scopes[2], scopes[4]].map((scope) => scope?.toLowerCase()),
  )
})

test('an assignment on an assignment is not at the scope', async () => {
  const reader = fill([{ scope: 1, principal: ann }])
  const first = `${sub}/providers/Vendor.Authorization/roleAssignments/${guid(100)}`
  reader.put(`${first}/providers/Vendor.Authorization/roleAssignments/${guid(7)}`, {
    principalId: ann,
  })
  const found = await listAll(reader, { parent: sub, filter: 'atScope()', limit: 10 })
  assert.deepEqual(found, [first.toLowerCase()])
})

const refused = [
  'roleDefinitionId eq 1',
  "principalId ne '00000000-0000-4000-8000-000000000001'",
  "principalId eq 'ann'",
  'atScope() or atScope()',
  'atScope() and atScope()',
  'not atScope()',
  'atScope(',
  `assignedTo('${team}')`,
  `principalId eq '${ann}' and assignedTo('${ann}')`,
]
for (const filter of refused) {
  test(`refuses the filter ${filter}`, async () => {
    const asked = { parent: sub, filter, limit: 5 }
    await assert.rejects(listAll(createMemoryReader(), asked), {
      code: 'InvalidFilter',
      status: 400,
    })
  })
}

test('a cursor of another list is refused', async () => {
  for (const cursor of ['', 'x', '9|/a', '-1|']) {
    const context = {
      ...sampleContext(createMemoryReader()),
      parent: idOf(sub),
      query: new URLSearchParams(),
      limit: 1,
      cursor,
    }
    const deps = { directory, limits: defaultAuthorizationLimits }
    await assert.rejects(listAssignments(context, deps), { code: 'InvalidContinuationToken' })
  }
})
