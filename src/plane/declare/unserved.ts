/** Types that no provider declares: one provider may declare any of them when a path names it. */

import type { Action } from './action.ts'
import type { StoredType } from './stored.ts'
import type { Version } from './wire.ts'

/** A type that is stored in any api-version. */
export interface UnservedType {
  /** Its `type` is the full name, including the first word of the namespace; `versions` is empty. */
  readonly declaration: StoredType
  versionOf(date: string): Version<unknown>
  /** An action by its name, where the type has one of that name. */
  action(name: string): Action<unknown> | undefined
}

/** Undefined: such a type cannot exist. The case of the name makes no difference. */
export type DeclareUnserved = (
  namespace: string,
  types: readonly string[],
) => UnservedType | undefined
