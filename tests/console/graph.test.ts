/** The layout of a deployment's steps: each right of all its dependencies, and no two at the same position. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeNodes } from '../../console/src/views/deployments/graph-layout.ts'
import { fc } from '../property.ts'

test('a step stands in the column after the last of those it waits for; rows keep near them', () => {
  const placed = placeNodes([
    { id: 'd', dependsOn: ['b', 'c'] },
    { id: 'c', dependsOn: ['b', 'gone'] },
    { id: 'a', dependsOn: [] },
    { id: 'b', dependsOn: [] },
    { id: 'e', dependsOn: ['a'] },
  ])
  assert.deepEqual(
    placed.map(({ id, column, row }) => `${id} ${column} ${row}`),
    ['a 0 0', 'b 0 1', 'e 1 0', 'c 1 1', 'd 2 0'],
  )
  assert.deepEqual(placed[3]?.dependsOn, ['b'])
})

test('of any steps, also in a circle, each has a place of its own, to the right of what it waits for', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const edges = fc.uniqueArray(fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids)))
  fc.assert(
    fc.property(edges, fc.boolean(), (drawn, mayCircle) => {
      const nodes = ids.map((id) => ({
        id,
        dependsOn: drawn
          .filter(([from, to]) => to === id && (mayCircle || from < to))
          .map(([from]) => from),
      }))
      const placed = placeNodes(nodes)
      assert.equal(new Set(placed.map(({ column, row }) => `${column} ${row}`)).size, ids.length)
      if (mayCircle) return
      const columns = new Map(placed.map(({ id, column }) => [id, column]))
      for (const { id, dependsOn } of placed) {
        for (const one of dependsOn) assert.ok((columns.get(one) ?? 0) < (columns.get(id) ?? 0))
      }
    }),
  )
})
