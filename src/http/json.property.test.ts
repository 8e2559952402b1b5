/** `findJsonFault` against the engine's own parser, and the depth scan against a plain count. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSteps } from '#kernel/steps.ts'
import { fc, runsOf } from '../../tests/property.ts'
import { findJsonFault, tooDeepAt } from './json.ts'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Nearly valid texts: JSON with a few characters cut, doubled or replaced. */
const nearJson = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.array(
      fc.tuple(fc.nat(400), fc.constantFrom(...'{}[]",:\\u0123eE.+-tfn \n\t', '\u0001', 'é', '')),
      { maxLength: 3 },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((now, [at, by]) => {
      const place = now.length === 0 ? 0 : at % (now.length + 1)
      return now.slice(0, place) + by + now.slice(by === '' ? place + 1 : place)
    }, text),
  )

test('a fault is found exactly where JSON.parse refuses', () => {
  fc.assert(
    fc.property(fc.oneof(nearJson, fc.string()), (text) => {
      const fault = findJsonFault(text)
      assert.equal(fault === undefined, isJson(text))
      // Everything before the fault was accepted, so cutting there does not move the fault.
      if (fault !== undefined) assert.ok(fault.at >= 0 && fault.at <= text.length)
    }),
    { numRuns: runsOf(2000) },
  )
})

test('depth is that of the value', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
      : 0
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat(7), (text, depthMax) => {
      assert.equal(allSteps(tooDeepAt(text, depthMax)) >= 0, depthOf(JSON.parse(text)) > depthMax)
    }),
    { numRuns: runsOf(1000) },
  )
})
