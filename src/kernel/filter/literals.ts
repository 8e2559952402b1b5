/** Literals as operands: in their own type, or read as the type of the other operand. */

import type { LiteralNode } from './nodes.ts'
import { type Operand, operandOf } from './operand.ts'
import { flagsOf } from './operators.ts'
import { printFilter } from './print.ts'
import { type FilterProblem, filterProblem, quoted } from './problem.ts'
import { plainValue, spellingOf, valueAs } from './values.ts'

/** The number of values listed in one message. */
const listedMax = 30

export function literalOperand(node: LiteralNode): Operand {
  const value = plainValue(node.literal)
  return operandOf(node.literal.type, () => value, { integer: isInteger(node) })
}

function isInteger(node: LiteralNode): boolean {
  return node.literal.type === 'number' && /^-?\d+$/.test(node.literal.text)
}

/** The literal as a value of `other`'s type. `flags`: several enum values, joined by commas. */
export function literalLike(
  node: LiteralNode,
  other: Operand,
  lenient: boolean,
  manner?: 'flags',
): Operand | FilterProblem {
  if (other.type === 'null') return literalOperand(node)
  const value = valueAs(node.literal, other.type, lenient)
  if (value === undefined) {
    const found = `the ${node.literal.type} ${quoted(printFilter(node))}`
    return filterProblem(node.position, spellingOf(other.type, lenient), found)
  }
  if (value !== null && other.values !== undefined) {
    const known = other.values.map((one) => (lenient ? one.toLowerCase() : one))
    const named = manner === 'flags' ? flagsOf(String(value)) : [String(value)]
    if (!named.every((one) => known.includes(lenient ? one.toLowerCase() : one))) {
      const expected = `one of ${other.values.slice(0, listedMax).join(', ')}`
      return filterProblem(node.position, expected, quoted(String(value)))
    }
  }
  const type = value === null ? 'null' : other.type
  return operandOf(type, () => value, { integer: isInteger(node) })
}
