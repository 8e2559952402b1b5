/**
 * The ordinary and the wide tier leave the full product of stores, modes and moments to `npm run test:long`, and run a sample
 * in which each of them occurs.
 */

export const isLong = process.env['ARMATURE_TEST_LONG'] !== undefined

/** All in the long suite. In the other tiers every `step`th, beginning with `first`. */
export function someOf<T>(all: readonly T[], step: number, first = 0): readonly T[] {
  return isLong ? all : all.filter((_, at) => at % step === first % step)
}

/** Registers tests in the long suite alone, where another one covers the same in another way. */
export function onlyLong<A extends readonly unknown[]>(register: (...of: A) => void) {
  return isLong ? register : (..._: A): void => undefined
}
