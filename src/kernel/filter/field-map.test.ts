/** Names of fields: how they are found, in the strict and the lenient profile. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findByPath } from './field-map.ts'

const entries = { name: 1, 'properties/status': 2, 'Invoice/Total': 3 }

type Found = number | undefined

test('a field is found by its path, and by nothing else', () => {
  const lenient = { lenient: true, optionalPrefix: 'properties' }
  const prefix = { optionalPrefix: 'properties' }
  const table: readonly (readonly [string, Found, Found, Found])[] = [
    // path, strict, strict with the prefix optional, lenient
    ['name', 1, 1, 1],
    ['Name', undefined, undefined, 1],
    ['properties/name', undefined, 1, 1],
    ['Properties/NAME', undefined, undefined, 1],
    ['properties/status', 2, 2, 2],
    ['status', undefined, 2, 2],
    ['STATUS', undefined, undefined, 2],
    ['Invoice/Total', 3, 3, 3],
    ['properties/invoice/total', undefined, undefined, 3],
    ['Invoice', undefined, undefined, undefined],
    ['properties', undefined, undefined, undefined],
    ['properties/properties/name', undefined, undefined, undefined],
    ['toString', undefined, undefined, undefined],
    ['__proto__', undefined, undefined, undefined],
    ['', undefined, undefined, undefined],
  ]
  for (const [path, strict, optional, loose] of table) {
    const segments = path.split('/')
    assert.equal(findByPath(entries, segments, {}), strict, `${path}, strict`)
    assert.equal(findByPath(entries, segments, prefix), optional, `${path}, optional prefix`)
    assert.equal(findByPath(entries, segments, lenient), loose, `${path}, lenient`)
  }
})
