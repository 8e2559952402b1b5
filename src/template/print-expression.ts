/** Prints an expression as text that parses to the same expression. */
import { exactJsonText } from '#kernel/exact-json.ts'
import { callOf, type Expression } from './expression.ts'
import type { Json } from './plan.ts'

export function printExpression(node: Expression): string {
  switch (node.kind) {
    case 'string':
      return `'${node.value.replaceAll("'", "''")}'`
    case 'integer':
      return String(node.value)
    case 'member':
      return `${printExpression(node.of)}[${node.safe ? '?' : ''}${printExpression(node.index)}]`
    case 'call': {
      const name = node.namespace === undefined ? node.name : `${node.namespace}.${node.name}`
      return `${name}(${node.arguments.map(printExpression).join(', ')})`
    }
    default:
      return node satisfies never
  }
}

/** An expression that has this value. */
export function expressionOf(value: Json, at: number): Expression {
  if (typeof value === 'string') return { kind: 'string', value, at }
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) {
    return { kind: 'integer', value: BigInt(value as bigint | number), at }
  }
  const text: Expression = { kind: 'string', value: exactJsonText(value), at }
  return callOf(at, 'json', text)
}
