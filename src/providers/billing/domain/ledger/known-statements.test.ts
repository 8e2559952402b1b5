/** What is remembered of statements between queries. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dimension, Statement } from './entry.ts'
import { type KnownDimension, KnownStatements } from './known-statements.ts'

const totals = { subTotal: 0n, tax: 0n, amount: 0n, credit: 0n, commitment: 0n }

function statement(id: number): Statement {
  const named = {
    account: 'a',
    profile: 'p',
    month: '2026-11',
    currency: 'EUR',
    status: 'Due' as const,
  }
  return { id, ...named, invoice: undefined, closedAt: undefined, entries: 1, totals }
}

/** Of some characters each. */
function dimensions(count: number, characters: number): readonly KnownDimension[] {
  const dimension = { productDescription: 'x'.repeat(characters) } as Dimension
  return Array.from({ length: count }, (_, id) => ({ id, dimension, entries: 1, totals }))
}

test('as much is remembered as fits by its characters', () => {
  const known = new KnownStatements()
  const isKnown = (id: number): boolean => known.get(statement(id), '0') !== undefined
  for (let id = 1; id <= 10; id++) known.put(statement(id), '0', dimensions(100, 100))
  assert.ok(isKnown(1) && isKnown(10))
  known.put(statement(11), '0', dimensions(1_620, 10_000))
  assert.ok(!isKnown(1) && isKnown(11))
  // One that does not fit by itself is not kept, and takes the place of none.
  known.put(statement(12), '0', dimensions(1_700, 10_000))
  assert.ok(!isKnown(12) && isKnown(11))
  known.put(statement(13), '0', dimensions(100, 100))
  assert.ok(isKnown(13))
})

test('one that is read again counts once', () => {
  const known = new KnownStatements()
  const isKnown = (id: number): boolean => known.get(statement(id), '0') !== undefined
  known.put(statement(1), '0', dimensions(100, 100))
  for (let at = 0; at < 10; at++) known.put(statement(2), '0', dimensions(800, 10_000))
  assert.ok(isKnown(1) && isKnown(2))
  // What an earlier state of it had is forgotten with it.
  known.put(statement(2), '0', dimensions(1_700, 10_000))
  assert.ok(isKnown(1) && !isKnown(2))
})
