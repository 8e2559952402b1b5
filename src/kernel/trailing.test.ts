import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutTrailing } from './trailing.ts'

test('what is at the end goes, and nothing else', () => {
  assert.equal(withoutTrailing('/a//b///', '/'), '/a//b')
  assert.equal(withoutTrailing('////', '/'), '')
  assert.equal(withoutTrailing('', '/'), '')
  assert.equal(withoutTrailing('so. \n', '. \n'), 'so')
})
