/** How much a search in a text may cost a store, which compares a long part anew at each place. Pure. */

import type { CallExpression, Expression } from './expression.ts'

/** Of a column: what most of them have at most. */
const columnCharacters = 250

/** The characters that a text may have. */
function charactersOf(expression: Expression): number {
  switch (expression.form) {
    case 'constant':
      return String(expression.value ?? '').length
    case 'related':
      return charactersOf(expression.value)
    case 'call':
      return expression.arguments.reduce((sum, one) => sum + charactersOf(one), 0)
    default:
      return columnCharacters
  }
}

/** The characters that a function of texts may compare or make. */
export function comparedBy({ name, arguments: [text, part] }: CallExpression): number {
  const length = text === undefined ? 0 : charactersOf(text)
  if (part === undefined || (name !== 'contains' && name !== 'indexof')) return length
  // The part that costs most is half as long as the text.
  const most = Math.min(charactersOf(part), length / 2)
  return length + (length - most) * most
}
