/** Characters inside a string are never counted, however long the string is and whatever is escaped in it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { jsonExcess, jsonExcessInSlices } from './json-size.ts'
import { allSteps } from './steps.ts'

const text = fc.string({
  unit: fc.constantFrom('"', '\\', ',', '[', ']', '{', '}', 'a', ' '),
  maxLength: 120,
})

test('members are the brackets and commas outside of strings', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), (list) => {
      const json = new TextEncoder().encode(JSON.stringify(list))
      const limits = { depthMax: 1, propertiesMax: 1 }
      assert.equal(jsonExcess(json, { ...limits, membersMax: list.length }), undefined)
      const excess = jsonExcess(json, { ...limits, membersMax: list.length - 1 })
      assert.equal(excess?.limit, 'membersMax')
    }),
  )
})

test('a string without an end is no reason to go on', () => {
  const limits = { depthMax: 1, membersMax: 1, propertiesMax: 1 }
  for (const inside of ['', 'a'.repeat(100), '\\"'.repeat(100), `${'a'.repeat(100)}\\"[[[`]) {
    assert.equal(jsonExcess(new TextEncoder().encode(`["${inside}`), limits), undefined)
  }
})

test('slices of a text count what the whole text has', () => {
  // Longer than some slices, with strings that pass from one to the next.
  const long = fc.tuple(fc.array(text, { minLength: 1 }), fc.integer({ min: 1, max: 300_000 }))
  fc.assert(
    fc.property(fc.array(long, { minLength: 1, maxLength: 3 }), fc.nat(40), (each, membersMax) => {
      const lists = each.map(([list, spaces]) => JSON.stringify(list) + ' '.repeat(spaces))
      const json = new TextEncoder().encode(`[${lists.join(',')}]`)
      const limits = { depthMax: 2, propertiesMax: 1, membersMax }
      assert.deepEqual(allSteps(jsonExcessInSlices(json, limits)), jsonExcess(json, limits))
    }),
  )
})
