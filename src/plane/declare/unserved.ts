/** Types that no provider declares: a provider may make a declaration of any of them when a path names it. */

import type { Action } from './action.ts'
import type { StoredType } from './stored.ts'
import type { Version } from './wire.ts'

/** A type that is stored in any api-version. */
export interface UnservedType {
  /** Its `type` is the whole name, with the first word of the namespace; `versions` is empty. */
  readonly declaration: StoredType
  versionOf(date: string): Version<unknown>
  /** An action by its name, where the type has such a one. */
  action(name: string): Action<unknown> | undefined
}

/** Undefined: no such type can be. The same for the same name in any case. */
export type DeclareUnserved = (
  namespace: string,
  types: readonly string[],
) => UnservedType | undefined
