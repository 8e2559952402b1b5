import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverTextProblem } from './server-text.ts'

test('a NUL or half a character is refused, anything else is only itself', () => {
  for (const text of ['a\0', '\0', 'db\0options\0-c x=y', '\ud800', 'a\udc00b']) {
    assert.notEqual(serverTextProblem(text), undefined, JSON.stringify(text))
  }
  for (const text of ['', 'a', 'host=x user=y', "'", '"', '\\', 'a\nb', '-x', '日本', '🙂']) {
    assert.equal(serverTextProblem(text), undefined, JSON.stringify(text))
  }
})
