/** What a simulated container is told by its environment. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerSpec } from '../engine.ts'
import { readScript, scriptVariable } from './script.ts'

// Nothing else of a container is read.
const scriptOf = (value: string) =>
  readScript({
    init: false,
    environment: [{ name: scriptVariable, value }],
  } as unknown as ContainerSpec)

test('lines of the log stand among other words', () => {
  const script = scriptOf('log:one;exit:3@5s;;log:two')
  assert.deepEqual(script.lines, ['one', 'two'])
  assert.deepEqual(script.end, { exitCode: 3, afterMs: 5000 })
})

test('many lines take their own time, not that of all before each of them', () => {
  assert.equal(scriptOf('log:;'.repeat(1_000_000)).lines.length, 1_000_000)
})
