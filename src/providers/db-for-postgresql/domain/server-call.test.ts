/** Names from a server, before they are used in ids. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPathName } from './server-call.ts'

test('what cannot stand in an id is no name', () => {
  for (const good of ['work_mem', 'pg_stat_statements.max', 'Größe', '...', 'a b']) {
    assert.ok(isPathName(good), good)
  }
  const long = 'x'.repeat(64)
  for (const bad of ['', '.', '..', '../../x', 'a/b', 'a\u0000b', 'a\nb', long, null, 7]) {
    assert.ok(!isPathName(bad), String(bad))
  }
})
