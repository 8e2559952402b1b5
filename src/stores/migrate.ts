/**
 * Decides what opening a store has to do first: which migrations are missing, and whether this program may use the
 * store at all. Pure; each dialect carries out the result.
 */

import { type Migration, type StoreOptions, StoreUnavailable } from './store.ts'

interface AppliedMigration {
  readonly area: string
  readonly number: number
}

/**
 * The missing steps, in the order of `known`. Throws `StoreUnavailable` when the store has steps that this program
 * does not know: a newer version may have changed what rows mean.
 */
export function pendingMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const last = lastNumbers(known)
  const reached = new Map<string, number>()
  for (const { area, number } of applied) {
    const newest = last.get(area)
    if (newest === undefined || number > newest) {
      throw new StoreUnavailable(
        `The store was made by a newer version: it has step ${number} of the schema of '${area}', ` +
          `this version knows ${newest === undefined ? 'no such area' : `up to ${newest}`}. ` +
          'Start that version, or restore a backup made before it.',
        'never',
      )
    }
    reached.set(area, Math.max(reached.get(area) ?? 0, number))
  }
  return known.filter(({ area, number }) => number > (reached.get(area) ?? 0))
}

/** Each area's numbers run from 1 without a gap; a list that breaks this is a fault of ours. */
function lastNumbers(known: readonly Migration[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>()
  for (const { area, number } of known) {
    const expected = (last.get(area) ?? 0) + 1
    if (number !== expected) {
      throw new Error(`Migration ${area} ${number} stands where ${area} ${expected} was expected.`)
    }
    last.set(area, number)
  }
  return last
}

/** The settings a store remembers from its creation, by name. */
export function wordSettings(words: StoreOptions['words']): readonly (readonly [string, string])[] {
  return [
    ['namespace-word', words.namespace],
    ['brand-word', words.brand],
  ]
}

/** Throws `StoreUnavailable` when a remembered word differs from the current one: ids in the store contain it. */
export function assertWords(
  words: StoreOptions['words'],
  remembered: ReadonlyMap<string, string>,
): void {
  for (const [name, word] of wordSettings(words)) {
    const stored = remembered.get(name)
    if (stored !== word) {
      throw new StoreUnavailable(
        `The store was created with the ${name.replace('-', ' ')} '${stored}', and is now opened with ` +
          `'${word}'. Its resources carry the first; set that word again, or use another store.`,
        'never',
      )
    }
  }
}
