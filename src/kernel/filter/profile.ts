/**
 * A dialect of the filter language: how strictly words are read, which functions exist, and how large a filter may
 * be. Profiles are values; a provider makes its own with `withFunctions`.
 */

import { builtInFunctions, type FunctionShape } from './functions.ts'

interface FilterLimits {
  /** UTF-16 units of the whole text. */
  readonly lengthMax: number
  /** The nesting of parentheses, calls, lambdas and unary operators. */
  readonly depthMax: number
  /** Nodes of the tree. Entries of an `in` list are counted only by `listMax`. */
  readonly nodesMax: number
  readonly listMax: number
  /** The nesting of lambdas: each level multiplies the cost by the size of a collection. */
  readonly lambdaDepthMax: number
}

const filterLimits: FilterLimits = Object.freeze({
  lengthMax: 8192,
  depthMax: 32,
  nodesMax: 200,
  listMax: 200,
  lambdaDepthMax: 3,
})

export interface FilterProfile {
  /** Accepts operators, `true`, `false`, `null` and function names in any case. */
  readonly anyCase: boolean
  /**
   * Accepts the older spellings: `datetime'…'` and `guid'…'`, a date-time without a zone (read as UTC), and a dot
   * instead of the slash in paths (`properties.status`).
   */
  readonly oldForms: boolean
  /** By name. A call of any other function is refused. */
  readonly functions: Readonly<Record<string, FunctionShape>>
  readonly limits: FilterLimits
}

/** OData 4.01 exactly as its grammar, in lower case. */
export const strictProfile: FilterProfile = Object.freeze({
  anyCase: false,
  oldForms: false,
  functions: builtInFunctions,
  limits: filterLimits,
})

/** What clients of resource managers send in practice (facts 7.2, 9.8). */
export const lenientProfile: FilterProfile = Object.freeze({
  anyCase: true,
  oldForms: true,
  functions: builtInFunctions,
  limits: filterLimits,
})

/** A copy of the profile with more functions: `withFunctions(lenientProfile, { atScope: … })`. */
export function withFunctions(
  profile: FilterProfile,
  functions: Readonly<Record<string, FunctionShape>>,
): FilterProfile {
  return Object.freeze({ ...profile, functions: { ...profile.functions, ...functions } })
}
