import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import { fc } from '../../../../../tests/property.ts'
import { defaultAuthorizationLimits } from '../limits.ts'
import { type ConditionFacts, compileCondition } from './condition.ts'
import type { ConditionNode } from './nodes.ts'
import { parseCondition } from './parse.ts'
import { printCondition } from './print.ts'
import { condition, meaning, wholeFacts } from './testing/arbitrary.ts'

const runs = process.env['ARMATURE_TEST_LONG'] === undefined ? 500 : 20_000
const limits = defaultAuthorizationLimits

function parsed(text: string): ConditionNode {
  const result = parseCondition(text, contractWords, limits)
  assert.ok(result.ok, result.ok ? '' : `${result.message} in ${text}`)
  return result.node
}

/** The same condition without its position in a text. */
function unplaced(node: ConditionNode): unknown {
  return JSON.parse(JSON.stringify(node, (key, value) => (key === 'position' ? undefined : value)))
}

test('what is printed parses into the same condition', () => {
  fc.assert(
    fc.property(condition, (node) => {
      assert.deepEqual(unplaced(parsed(printCondition(node))), unplaced(node))
    }),
    { numRuns: runs },
  )
})

test('compiled conditions mean what the nodes mean, all being known', () => {
  const seen = { true: 0, false: 0 }
  fc.assert(
    fc.property(condition, wholeFacts, (node, facts) => {
      const expected = meaning(node, facts)
      seen[expected ? 'true' : 'false'] += 1
      assert.equal(compileCondition(node)(facts), expected)
    }),
    { numRuns: runs },
  )
  assert.ok(seen.true > runs / 20 && seen.false > runs / 20, 'both answers must be tried')
})

test('what is said ahead, with facts unknown, stays true whatever they turn out to be', () => {
  let decided = 0
  fc.assert(
    fc.property(condition, wholeFacts, fc.nat(7), (node, facts, hidden) => {
      const partial: ConditionFacts = {
        ...facts,
        ...((hidden & 1) === 0 ? {} : { now: 'unknown' }),
        ...((hidden & 2) === 0 ? {} : { request: 'unknown' }),
        ...((hidden & 4) === 0 ? {} : { resource: 'unknown' }),
      }
      const compiled = compileCondition(node)
      const ahead = compiled(partial)
      if (ahead === undefined) return
      decided += 1
      assert.equal(ahead, compiled(facts))
    }),
    { numRuns: runs },
  )
  assert.ok(decided > runs / 10)
})

const pieces = [
  '(',
  ')',
  '{',
  '}',
  ',',
  ':',
  '!',
  '&&',
  '||',
  ' AND ',
  ' OR ',
  'NOT ',
  "ActionMatches{'*'}",
  'Exists ',
  '@Resource[Vendor.X/things:size]',
  '@Request[',
  '@Environment[UtcNow]',
  'ForAnyOfAnyValues:',
  'StringEquals ',
  'NumericLessThan ',
  "'a'",
  "'",
  '1',
  'true',
  '\n',
  '\0',
  '\ud800',
  '00000000-0000-4000-8000-000000000001',
]

test('any text is read or refused with a place inside it, and never throws', () => {
  let refused = 0
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join('')),
    fc
      .tuple(condition.map(printCondition), fc.nat(), fc.constantFrom(...pieces))
      .map(([whole, at, piece]) => {
        const cut = at % (whole.length + 1)
        return whole.slice(0, cut) + piece + whole.slice(cut + 1)
      }),
  )
  fc.assert(
    fc.property(text, (given) => {
      const result = parseCondition(given, contractWords, limits)
      if (result.ok) {
        assert.deepEqual(unplaced(parsed(printCondition(result.node))), unplaced(result.node))
        return
      }
      refused += 1
      assert.ok(result.position >= 0 && result.position <= given.length)
      const lines = given.slice(0, result.position).split('\n')
      assert.equal(result.line, lines.length)
      assert.equal(result.column, (lines.at(-1)?.length ?? 0) + 1)
      assert.ok(result.message.isWellFormed() && result.message.length < 600)
    }),
    { numRuns: runs * 4 },
  )
  assert.ok(refused > runs)
})
