/**
 * What the ordinary suite leaves to `npm run test:long`: the full product of stores, modes and moments, of which it takes
 * enough that each of them is met.
 */

export const isLong = process.env['ARMATURE_TEST_LONG'] !== undefined

/** All in the long suite; in the ordinary one each `step`th, from the `first` on. */
export function someOf<T>(all: readonly T[], step: number, first = 0): readonly T[] {
  return isLong ? all : all.filter((_, at) => at % step === first % step)
}
