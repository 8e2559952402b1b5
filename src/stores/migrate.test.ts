/** Which stores can be opened, and how they are upgraded first. */

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { assertWords, pendingMigrations, wordSettings } from './migrate.ts'
import { type Migration, StoreUnavailable } from './store.ts'

const step = (area: string, number: number): Migration => ({
  area,
  number,
  sqlite: [],
  postgres: [],
})
const known = [step('core', 1), step('core', 2), step('identity', 1)]

const isNever = (error: unknown): boolean =>
  error instanceof StoreUnavailable && error.retry === 'never'

test('a fresh store needs every step, in order', () => {
  assert.deepEqual(pendingMigrations(known, []), known)
})

test('an older store needs the rest', () => {
  assert.deepEqual(pendingMigrations(known, [{ area: 'core', number: 1 }]), [
    step('core', 2),
    step('identity', 1),
  ])
  assert.deepEqual(pendingMigrations(known, known), [])
})

test('a newer store is refused', () => {
  assert.throws(() => pendingMigrations(known, [...known, step('core', 3)]), isNever)
  assert.throws(() => pendingMigrations(known, [...known, step('billing', 1)]), isNever)
})

test('a list with a gap or a repetition is a fault', () => {
  assert.throws(() => pendingMigrations([step('core', 2)], []), /core 1 was expected/)
  assert.throws(() => pendingMigrations([...known, step('core', 2)], []), /core 3 was expected/)
})

test('the words of the creation are the only ones', () => {
  const words = { namespace: 'Vendor', brand: 'Vendor' }
  const remembered = new Map(wordSettings(words))
  assertWords(words, remembered)
  assert.throws(() => assertWords({ ...words, brand: 'Other' }, remembered), isNever)
  assert.throws(() => assertWords({ ...words, namespace: 'Other' }, remembered), isNever)
})
