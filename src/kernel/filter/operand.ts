/**
 * What the compiler makes of a part of a filter: an operand that can be read for an item, with its type, or a
 * condition that is true, false or null.
 */

import type { Value, ValueType } from './functions.ts'

/** Slot 0 is the item. Lambda variables and rows get slots of their own while they are evaluated. */
export type Slots = unknown[]
export type Condition = (slots: Slots) => boolean | null
export type Read = (slots: Slots) => Value

export interface Operand {
  readonly type: ValueType | 'null'
  readonly read: Read
  /** For strings: comparison and search ignore case. */
  readonly ignoreCase: boolean
  /** For numbers: the value never has a fraction. */
  readonly integer: boolean
  /** For enums: all values, where they are known. */
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

export function lowerCased(value: Value): Value {
  return typeof value === 'string' ? value.toLowerCase() : value
}

export function readLowerCased(left: Operand, right: Operand): readonly [Read, Read] {
  if (!left.ignoreCase && !right.ignoreCase) return [left.read, right.read]
  return [(slots) => lowerCased(left.read(slots)), (slots) => lowerCased(right.read(slots))]
}
