/** Checks that an operator, its prefix and its two operands match. Returns the problem, or nothing. */

import type { Literal, OperandNode } from './nodes.ts'
import {
  normalize,
  type OperandType,
  type OperatorName,
  operatorOf,
  type PrefixName,
} from './operators.ts'

interface Misfit {
  readonly position: number
  readonly expected: string
  readonly found: string
}

/** An operand with its value's type, where that is known. */
export interface TypedOperand {
  readonly node: OperandNode
  readonly type: OperandType | undefined
}

const typeNames: Readonly<Record<OperandType, string>> = {
  boolean: 'true or false',
  string: "a string in quotes, such as 'text'",
  number: 'a whole number',
  moment: "a time such as '2026-01-31T08:00:00.0Z'",
  guid: 'a GUID',
}

const families: Readonly<Record<OperandType, string>> = {
  boolean: 'an operator for true and false (BoolEquals, BoolNotEquals)',
  string: 'an operator for strings (StringEquals, StringLike and so on)',
  number: 'an operator for numbers (NumericEquals, NumericLessThan and so on)',
  moment: 'an operator for times (DateTimeLessThan and so on)',
  guid: 'an operator for GUIDs (GuidEquals, GuidNotEquals)',
}

export function misfitOf(
  operatorAt: number,
  name: OperatorName,
  prefix: PrefixName | undefined,
  operands: readonly TypedOperand[],
): Misfit | undefined {
  const operator = operatorOf(name)
  if (prefix !== undefined && !operator.takesSets) {
    const found = `"${prefix}:${name}"`
    return { position: operatorAt, expected: `${name} without a prefix`, found }
  }
  for (const { node, type } of operands) {
    if (node.kind === 'set' && prefix === undefined) {
      const expected = 'a single value, or a prefix such as ForAnyOfAnyValues: at the operator'
      return { position: node.position, expected, found: 'a set' }
    }
    if (type !== undefined && type !== operator.type) {
      const found = `"${name}"`
      return { position: operatorAt, expected: families[type], found }
    }
    for (const { position, literal } of literalsOf(node)) {
      if (!fits(name, literal)) {
        const found = `the ${literal.type} ${JSON.stringify(literal.value).slice(0, 60).toWellFormed()}`
        return { position, expected: typeNames[operator.type], found }
      }
    }
  }
  return undefined
}

function literalsOf(node: OperandNode) {
  if (node.kind === 'attribute') return []
  return node.kind === 'set' ? node.members : [node]
}

function fits(name: OperatorName, literal: Literal): boolean {
  const operator = operatorOf(name)
  // A GUID may be bare or quoted; as text to compare with, it must be quoted.
  if (literal.type === 'guid') return operator.type === 'guid'
  return normalize(operator, literal.value) !== undefined && !isBareMoment(operator.type, literal)
}

/** The server's own moments are numbers; those in a condition are always text. */
function isBareMoment(type: OperandType, literal: Literal): boolean {
  return type === 'moment' && literal.type === 'number'
}
