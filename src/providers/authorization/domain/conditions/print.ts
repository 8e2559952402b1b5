/** Prints nodes as text that parses to the same nodes. */

import type { ConditionNode, Literal, OperandNode } from './nodes.ts'

export function printCondition(node: ConditionNode): string {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.parts.map(printPart).join(` ${node.kind.toUpperCase()} `)
    case 'not':
      return `!(${printCondition(node.part)})`
    case 'action':
      return `ActionMatches{${node.patterns.map(printString).join(', ')}}`
    case 'sub-operation':
      return `SubOperationMatches{${node.patterns.map(printString).join(', ')}}`
    case 'exists':
      return `Exists ${printOperand(node.attribute)}`
    case 'comparison': {
      const prefix = node.prefix === undefined ? '' : `${node.prefix}:`
      return `${printOperand(node.left)} ${prefix}${node.operator} ${printOperand(node.right)}`
    }
    default:
      return node satisfies never
  }
}

/** Nested joins keep their parentheses: without them they would be refused as ambiguous, or merge. */
function printPart(node: ConditionNode): string {
  const text = printCondition(node)
  return node.kind === 'and' || node.kind === 'or' ? `(${text})` : text
}

function printOperand(node: OperandNode): string {
  switch (node.kind) {
    case 'attribute':
      return `@${node.source}[${node.text}]`
    case 'literal':
      return printLiteral(node.literal)
    case 'set':
      return `{${node.members.map((member) => printLiteral(member.literal)).join(', ')}}`
    default:
      return node satisfies never
  }
}

function printLiteral(literal: Literal): string {
  return literal.type === 'string' ? printString(literal.value) : String(literal.value)
}

function printString(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
