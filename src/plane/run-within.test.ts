/** Work is stopped by the time that it takes, and not by the time that its machine takes for others. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runWithin } from './run-within.ts'

function slowAtFirst(): () => string {
  let calls = 0
  return () => {
    if (calls++ === 0) for (;;);
    return 'done'
  }
}

function endless(): never {
  for (;;);
}

test('work that takes too long is stopped, and what it throws is thrown', () => {
  assert.equal(runWithin(30, endless), 'too-long')
  assert.deepEqual(
    runWithin(30, () => 7),
    { value: 7 },
  )
  const thrown = (): never => {
    throw new TypeError('its own')
  }
  assert.throws(() => runWithin(30, thrown), TypeError)
})

test('work that had no processor begins again', (t) => {
  t.mock.method(process, 'threadCpuUsage', () => ({ user: 0, system: 0 }))
  assert.deepEqual(runWithin(30, slowAtFirst()), { value: 'done' })
  assert.equal(runWithin(5, endless), 'too-long')
})
