/**
 * What the compiler makes of a part of a filter: something that can be read for an item, with its type; or a
 * condition that holds, does not, or is null.
 */

import type { Value, ValueType } from './functions.ts'

/** Slot 0 is the item; lambda variables and rows have slots of their own while they are looked at. */
export type Slots = unknown[]
export type Condition = (slots: Slots) => boolean | null
export type Read = (slots: Slots) => Value

export interface Operand {
  readonly type: ValueType | 'null'
  readonly read: Read
  /** Strings: comparing and searching fold case. */
  readonly ignoreCase: boolean
  /** Numbers: never has a fraction. */
  readonly integer: boolean
  /** Enums: every value there is, where that is known. */
  readonly values: readonly string[] | undefined
}

export function operandOf(
  type: Operand['type'],
  read: Operand['read'],
  rest: Partial<Pick<Operand, 'ignoreCase' | 'integer' | 'values'>> = {},
): Operand {
  return { type, read, ignoreCase: false, integer: false, values: undefined, ...rest }
}

export function aTypeName(type: Operand['type']): string {
  return type === 'enum' ? 'an enum' : type === 'null' ? 'null' : `a ${type}`
}

export function folded(value: Value): Value {
  return typeof value === 'string' ? value.toLowerCase() : value
}

export function readFolded(left: Operand, right: Operand): readonly [Read, Read] {
  if (!left.ignoreCase && !right.ignoreCase) return [left.read, right.read]
  return [(slots) => folded(left.read(slots)), (slots) => folded(right.read(slots))]
}
