/**
 * Prints nodes as text: the shortest text that parses to the same tree under the same profile, with parentheses
 * only where precedence requires them. Positions are lost.
 */

import { bindingPower, type FilterNode, type Literal } from './nodes.ts'

export function printFilter(node: FilterNode): string {
  switch (node.kind) {
    case 'literal':
      return printLiteral(node.literal)
    case 'path':
      return node.segments.join('/')
    case 'unary': {
      const operand = bracketed(node.operand, powerOf(node.operand) < bindingPower.not)
      // Without the blank, a minus before digits would become part of the number.
      return node.operator === 'not' ? `not ${operand}` : `- ${operand}`
    }
    case 'binary': {
      const power = bindingPower[node.operator]
      const left = bracketed(node.left, powerOf(node.left) < power)
      const right = bracketed(node.right, powerOf(node.right) <= power)
      return `${left} ${node.operator} ${right}`
    }
    case 'in': {
      const operand = bracketed(node.operand, powerOf(node.operand) < bindingPower.in)
      return `${operand} in (${node.list.map(printFilter).join(',')})`
    }
    case 'call':
      return `${node.name}(${node.arguments.map(printFilter).join(',')})`
    case 'lambda': {
      const head = `${printFilter(node.path)}/${node.operator}`
      if (node.variable === undefined || node.predicate === undefined) return `${head}()`
      return `${head}(${node.variable}:${printFilter(node.predicate)})`
    }
  }
}

function powerOf(node: FilterNode): number {
  switch (node.kind) {
    case 'unary':
    case 'binary':
      return bindingPower[node.operator]
    case 'in':
      return bindingPower.in
    default:
      return Number.POSITIVE_INFINITY
  }
}

function bracketed(node: FilterNode, needed: boolean): string {
  return needed ? `(${printFilter(node)})` : printFilter(node)
}

function printLiteral(literal: Literal): string {
  switch (literal.type) {
    case 'null':
      return 'null'
    case 'boolean':
      return String(literal.value)
    case 'string':
      return quote(literal.value)
    case 'enum':
      return `${literal.typeName}${quote(literal.value)}`
    case 'duration':
      return `duration${quote(literal.text)}`
    default:
      return literal.text
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
