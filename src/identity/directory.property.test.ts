/** The groups of a principal against a brute-force oracle, over random graphs and random histories. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { openIdentityFixture } from './testing/fixture.ts'

const size = 7
const step = fc.record({
  add: fc.boolean(),
  group: fc.nat({ max: size - 1 }),
  member: fc.nat({ max: size }),
})

test('groupsOf is reachability, at every moment of any history', async () => {
  await using fixture = await openIdentityFixture()
  await using replica = await fixture.replica()
  const { directory } = fixture.identity
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const groups: string[] = []
      for (let i = 0; i < size; i += 1) {
        groups.push((await directory.createGroup({ displayName: `g${i}` })).id)
      }
      const { principal } = await directory.createServicePrincipal({ displayName: 's' })
      const all = [...groups, principal.id]
      const edges = new Map(all.map((id) => [id, new Set<string>()]))
      for (const { add, group, member } of steps) {
        const [g = '', m = ''] = [groups[group], all[member]]
        if (g === m) continue
        const above = edges.get(m)
        if (add) await directory.addMember(g, m)
        else if (above?.has(g)) await directory.removeMember(g, m)
        if (add) above?.add(g)
        else above?.delete(g)
        // The same member every time, so that caches are warm when the graph above it changes.
        const expected = reach(edges, principal.id)
        for (const w of [fixture, replica]) {
          assert.deepEqual(
            [...(await w.identity.directory.groupsOf(principal.id))].sort(),
            expected,
          )
        }
      }
      for (const id of all) {
        assert.deepEqual([...(await directory.groupsOf(id))].sort(), reach(edges, id))
      }
    }),
    { numRuns: 40 },
  )
})

/** Repeated sweeps over all pairs until nothing changes: slow and obvious. */
function reach(edges: ReadonlyMap<string, ReadonlySet<string>>, from: string): string[] {
  const found = new Set<string>()
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const [id, above] of edges) {
      if (id !== from && !found.has(id)) continue
      for (const group of above) found.add(group)
    }
  }
  found.delete(from)
  return [...found].sort()
}
