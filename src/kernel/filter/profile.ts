/**
 * Which filter language is spoken: how strictly words are read, which functions are known, and how large a
 * filter may be. Profiles are values; a provider makes its own with `withFunctions`.
 */

import { builtInFunctions, type FunctionShape } from './functions.ts'

interface FilterLimits {
  /** UTF-16 units of the whole text. */
  readonly lengthMax: number
  /** Parentheses, calls, lambdas and unary operators inside each other. */
  readonly depthMax: number
  /** Nodes of the tree; entries of an `in` list are counted by `listMax` alone. */
  readonly nodesMax: number
  readonly listMax: number
  /** Lambdas inside each other: each multiplies the cost by the size of a collection. */
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
  /** Operators, `true`, `false`, `null` and function names in any case. */
  readonly anyCase: boolean
  /**
   * The older spellings: `datetime'…'` and `guid'…'`, a date-time without a zone (taken as UTC), and a dot
   * for the slash in paths (`properties.status`).
   */
  readonly oldForms: boolean
  /** By name; a call of anything else is refused. */
  readonly functions: Readonly<Record<string, FunctionShape>>
  readonly limits: FilterLimits
}

/** OData 4.01 as its grammar is written, in lower case. */
export const strictProfile: FilterProfile = Object.freeze({
  anyCase: false,
  oldForms: false,
  functions: builtInFunctions,
  limits: filterLimits,
})

/** What clients of resource managers really send (facts 7.2, 9.8). */
export const lenientProfile: FilterProfile = Object.freeze({
  anyCase: true,
  oldForms: true,
  functions: builtInFunctions,
  limits: filterLimits,
})

/** The profile with more functions: `withFunctions(lenientProfile, { atScope: … })`. */
export function withFunctions(
  profile: FilterProfile,
  functions: Readonly<Record<string, FunctionShape>>,
): FilterProfile {
  return Object.freeze({ ...profile, functions: { ...profile.functions, ...functions } })
}
