/** What counts as made by a deployment, for what its other resources lack. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWithin, parseResourceId, resourceGroupOf } from '#kernel/resource-id.ts'
import { fc } from '../../../../../tests/property.ts'
import type { PlannedNode } from '../evaluation/remote-plan.ts'
import { type Lack, Lacks } from './lacks.ts'

const nodeOf = (id: string, more: Partial<PlannedNode> = {}): PlannedNode =>
  ({ id, type: 'A.B/things', existing: false, nested: false, ...more }) as PlannedNode

const lackOfOne = (missing: Lack['missing']): Lack => ({
  error: { code: 'ResourceNotFound', message: JSON.stringify(missing) },
  missing,
})

/** Whether an id mends what is missing, by one look at each. */
function isMending(id: string, { missing }: Lack): boolean {
  if (missing.kind === 'resource') return isWithin(missing.key, id)
  if (missing.kind === 'subscription') return isWithin(id, missing.key)
  const parsed = parseResourceId(id)
  return parsed?.segments.length === 1 && resourceGroupOf(parsed)?.toLowerCase() === missing.name
}

const word = fc.constantFrom('a', 'ab', 'B')
const scope = fc.oneof(
  fc.constant(''),
  word.map((name) => `/subscriptions/${name}`),
  fc.tuple(word, word).map(([one, two]) => `/subscriptions/${one}/resourceGroups/${two}`),
)
const tail = fc.oneof(
  fc.constant(''),
  fc.tuple(word, word).map(([one, two]) => `/providers/A.B/things/${one}/items/${two}`),
  word.map((name) => `/providers/A.B/things/${name}`),
)
const anId = fc
  .tuple(scope, tail)
  .map((both) => both.join(''))
  .filter((id) => id !== '')
const aLack = fc.oneof(
  anId.map((id) => lackOfOne({ kind: 'resource', key: id.toLowerCase() })),
  word.map((name) => lackOfOne({ kind: 'group', name: name.toLowerCase() })),
  word.map((name) =>
    lackOfOne({ kind: 'subscription', key: `/subscriptions/${name.toLowerCase()}` }),
  ),
)

test('what is lacked is made by an id around it, a group by its name, a subscription by an id in it', () => {
  fc.assert(
    fc.property(fc.array(anId, { maxLength: 4 }), fc.array(aLack), (ids, all) => {
      const lacks = new Lacks()
      for (const id of ids) lacks.make(nodeOf(id))
      for (const one of all) lacks.lack(one)
      const made = ids.map((id) => id.toLowerCase())
      const expected = all.filter((one) => !made.some((id) => isMending(id, one)))
      assert.deepEqual(
        lacks.forGood(),
        expected.map(({ error }) => error),
      )
    }),
  )
})

test('what exists or is nested makes nothing', () => {
  const lacks = new Lacks()
  const id = '/subscriptions/s/resourceGroups/g'
  lacks.make(nodeOf(id, { existing: true }))
  lacks.make(nodeOf(id, { nested: true }))
  lacks.lack(lackOfOne({ kind: 'group', name: 'g' }))
  lacks.lack(lackOfOne({ kind: 'subscription', key: '/subscriptions/s' }))
  lacks.lack(lackOfOne({ kind: 'resource', key: id.toLowerCase() }))
  assert.equal(lacks.forGood().length, 3)
})

test('a hundred thousand lacks of a hundred thousand resources are looked up, each by itself', () => {
  const lacks = new Lacks()
  const count = 100_000
  const group = '/subscriptions/s/resourcegroups/g'
  for (let at = 0; at < count; at++) {
    lacks.make(nodeOf(`${group}/providers/A.B/things/made${at}`))
    lacks.lack(lackOfOne({ kind: 'resource', key: `${group}/providers/a.b/things/none${at}` }))
    lacks.lack(lackOfOne({ kind: 'group', name: `none${at}` }))
    lacks.lack(lackOfOne({ kind: 'subscription', key: `/subscriptions/none${at}` }))
  }
  assert.equal(lacks.forGood().length, 3 * count)
})
