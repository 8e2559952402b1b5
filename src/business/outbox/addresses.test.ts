import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressesIn } from './addresses.ts'

test('addresses are split, and what is none is refused', () => {
  assert.deepEqual(addressesIn('a@b.example'), ['a@b.example'])
  assert.deepEqual(addressesIn(' a@b.example; ü@c.example ,d@localhost'), [
    'a@b.example',
    'ü@c.example',
    'd@localhost',
  ])
  const bad = ['', 'a', 'a@', '@b', 'a b@c', 'a@b@c', '<a@b>', 'a@b\r\nBcc: c@d', 'a@b;;c@d']
  for (const text of bad) assert.equal(addressesIn(text), undefined, text)
  assert.equal(addressesIn(Array.from({ length: 21 }, () => 'a@b.c').join(',')), undefined)
})
