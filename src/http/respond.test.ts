/** Links and headers that can be tested without a socket. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRoutingStamp, nextLinkOf } from './respond.ts'

test('a next link is the same call with another $skipToken', () => {
  const link = (search: string): string => nextLinkOf('https://h', '/a/B%20c', search, 'x.y+z')
  assert.equal(link(''), 'https://h/a/B%20c?$skipToken=x.y%2Bz')
  assert.equal(
    link('api-version=1&$filter=a%20eq%20%27b%27&$top=5'),
    'https://h/a/B%20c?api-version=1&$filter=a%20eq%20%27b%27&$top=5&$skipToken=x.y%2Bz',
  )
  for (const old of [
    '$skipToken=o',
    '%24skiptoken=o',
    '$SKIPTOKEN',
    '$skipToken=a&%24skipToken=b',
  ]) {
    assert.equal(link(`${old}&api-version=1`), 'https://h/a/B%20c?api-version=1&$skipToken=x.y%2Bz')
  }
  assert.match(link('$skipTokens=1'), /\?\$skipTokens=1&/)
})

test('the routing stamp follows the clock, backwards too', () => {
  const stamp = createRoutingStamp()
  assert.equal(stamp(Date.UTC(2026, 0, 31, 12, 0, 1, 999)), '20260131T120001Z')
  assert.equal(stamp(Date.UTC(2026, 0, 31, 12, 0, 2)), '20260131T120002Z')
  assert.equal(stamp(Date.UTC(2026, 0, 31, 12, 0, 1)), '20260131T120001Z')
})
