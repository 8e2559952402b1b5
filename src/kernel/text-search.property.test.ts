/** A text in another, against the runtime's own search, and where that would compare each place anew. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { lastPositionIn, positionIn, splitBy } from './text-search.ts'

test('finds what the runtime finds', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 300 })
  fc.assert(
    fc.property(texts, fc.nat(300), fc.nat(200), texts, (text, from, length, other) => {
      for (const part of [text.slice(from, from + length), other]) {
        assert.equal(positionIn(text, part), text.indexOf(part))
        assert.equal(positionIn(text, part, from), text.indexOf(part, from))
        assert.equal(lastPositionIn(text, part), text.lastIndexOf(part))
        if (part !== '') assert.deepEqual(splitBy(text, part), text.split(part))
      }
    }),
  )
})

// The runtime's own search compares a million times a million characters here: this file would not end.
test('reads no character for each place again', () => {
  const half = 'a'.repeat(1_000_000)
  const text = half.repeat(4)
  assert.equal(positionIn(text, `${half}b${half}`), -1)
  assert.equal(positionIn(`${text}b${half}`, `${half}b${half}`), 3_000_000)
  assert.equal(lastPositionIn(text, `${half}b${half}`), -1)
  assert.equal(lastPositionIn(text, half), 3_000_000)
  assert.deepEqual(splitBy(text, `${half}b`), [text])
})
