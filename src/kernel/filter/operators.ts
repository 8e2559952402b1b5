/** The computation of operators, null included. Types were checked before; nothing here refuses. */

import type { ValueType } from './functions.ts'
import type { ArithmeticOperator, CompareOperator } from './nodes.ts'
import type { Condition, Operand, Read } from './operand.ts'

/** `and`: a false condition decides; otherwise null wins over true. */
export function every(conditions: readonly Condition[]): Condition {
  const [only, ...more] = conditions
  if (only !== undefined && more.length === 0) return only
  return (slots) => {
    let result: boolean | null = true
    for (const condition of conditions) {
      const value = condition(slots)
      if (value === false) return false
      if (value === null) result = null
    }
    return result
  }
}

export function either(left: Condition, right: Condition): Condition {
  return (slots) => {
    const first = left(slots)
    if (first === true) return true
    const second = right(slots)
    return second === true ? true : first === null || second === null ? null : false
  }
}

/** `not`: null stays null. */
export function inverted(condition: Condition): Condition {
  return (slots) => {
    const value = condition(slots)
    return value === null ? null : !value
  }
}

/** True unless the condition is true. Null counts as not true. */
export function negated(condition: Condition): Condition {
  return (slots) => condition(slots) !== true
}

export function comparing(operator: CompareOperator, left: Read, right: Read): Condition {
  if (operator === 'eq') return (slots) => left(slots) === right(slots)
  if (operator === 'ne') return (slots) => left(slots) !== right(slots)
  const decide = orders[operator]
  return (slots) => {
    const one = left(slots)
    const other = right(slots)
    // Both have the same checked type, and JavaScript's order is the required one for each type.
    return one === null || other === null ? false : decide(one as number, other as number)
  }
}

const orders = {
  gt: (left: number, right: number) => left > right,
  ge: (left: number, right: number) => left >= right,
  lt: (left: number, right: number) => left < right,
  le: (left: number, right: number) => left <= right,
} as const

export function arithmetic(
  operator: ArithmeticOperator,
  integer: boolean,
): (left: number, right: number) => number | null {
  switch (operator) {
    case 'add':
      return (left, right) => left + right
    case 'sub':
      return (left, right) => left - right
    case 'mul':
      return (left, right) => left * right
    case 'div':
      // A division by zero has no value, so the comparison around it is false.
      return (left, right) =>
        right === 0 ? null : integer ? Math.trunc(left / right) : left / right
    case 'divby':
      return (left, right) => (right === 0 ? null : left / right)
    case 'mod':
      return (left, right) => (right === 0 ? null : left % right)
  }
}

export function arithmeticType(
  operator: ArithmeticOperator,
  left: Operand['type'],
  right: Operand['type'],
): ValueType | undefined {
  const one = left === 'null' ? 'number' : left
  const other = right === 'null' ? 'number' : right
  if (one === 'number' && other === 'number') return 'number'
  const moment = one === 'date' || one === 'dateTime'
  if (operator === 'add' || operator === 'sub') {
    if (moment && other === 'duration') return 'dateTime'
    if (one === 'duration' && other === 'duration') return 'duration'
  }
  if (operator === 'sub' && moment && (other === 'date' || other === 'dateTime')) return 'duration'
  if (operator === 'mul' && one === 'duration' && other === 'number') return 'duration'
  return undefined
}

export function flagsOf(text: string): readonly string[] {
  return text.split(',').map((flag) => flag.trim())
}
