/** Tables of what is an expression and what is not, with the position of each refusal; then any text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runsOf } from '../../tests/property.ts'
import {
  type Expression,
  ExpressionError,
  expressionLimits,
  parseExpression,
  parseTemplateString,
} from './expression.ts'

/** The expression printed in one spelling, so that a table can show the tree. */
function print(node: Expression): string {
  if (node.kind === 'string') return `'${node.value.replaceAll("'", "''")}'`
  if (node.kind === 'integer') return String(node.value)
  if (node.kind === 'member')
    return `${print(node.of)}[${node.safe ? '?' : ''}${print(node.index)}]`
  const name = node.namespace === undefined ? node.name : `${node.namespace}.${node.name}`
  return `${name}(${node.arguments.map(print).join(',')})`
}

const taken: readonly (readonly [text: string, printed: string])[] = [
  ["'it''s'", "'it''s'"],
  ["''", "''"],
  ['-9223372036854775808', '-9223372036854775808'],
  ['007', '7'],
  [" concat ( 'a' ,\n 1 ) ", "concat('a',1)"],
  ['ns.fn()', 'ns.fn()'],
  ["parameters('p').a.b[0]", "parameters('p')['a']['b'][0]"],
  ["parameters('p').?a[?1]", "parameters('p')[?'a'][?1]"],
  ["f(g()[h('x')].y)", "f(g()[h('x')]['y'])"],
  ['f().__proto__.constructor', "f()['__proto__']['constructor']"],
]
for (const [text, printed] of taken) {
  test(`takes ${JSON.stringify(text)}`, () => {
    assert.equal(print(parseExpression(text)), printed)
  })
}

const refused: readonly (readonly [text: string, at: number, message: RegExp])[] = [
  ['', 0, /found the end/],
  ['name', 4, /'\('/],
  ['f(', 2, /found the end/],
  ['f(1,)', 4, /found '\)'/],
  ['f(1 2)', 4, /',' or '\)'/],
  ["'open", 0, /no closing quote/],
  ['"double"', 0, /found '"'/],
  ['1 + 2', 2, /the end of the expression/],
  ['f().', 4, /a property's name/],
  ['f()[0', 5, /'\]'/],
  ['9223372036854775808', 0, /64 bits/],
]
for (const [text, at, message] of refused) {
  test(`refuses ${JSON.stringify(text)} at ${at}`, () => {
    assert.throws(
      () => parseExpression(text),
      (error) => error instanceof ExpressionError && error.at === at && message.test(error.message),
    )
  })
}

test('only a string in brackets is an expression, and [[ is a literal [', () => {
  for (const text of ['', 'a', '[', 'a]', '[a', ' [f()]', '[[']) {
    assert.equal(parseTemplateString(text).kind, 'literal')
  }
  assert.deepEqual(parseTemplateString('[[f()]'), { kind: 'literal', value: '[f()]' })
  assert.equal(parseTemplateString('[f()]').kind, 'expression')
})

test('an offset in a bracketed string counts the bracket', () => {
  assert.throws(
    () => parseTemplateString('[f(!)]'),
    (error) => error instanceof ExpressionError && error.at === 3,
  )
})

test('what is too long, too deep or too long a chain is refused, not a full stack', () => {
  const deep = (count: number) => `${'f('.repeat(count)}1${')'.repeat(count)}`
  assert.ok(parseExpression(deep(expressionLimits.depth)))
  assert.throws(() => parseExpression(deep(expressionLimits.depth + 1)), ExpressionError)
  assert.ok(parseExpression(`f()${'.a'.repeat(expressionLimits.depth)}`))
  assert.throws(
    () => parseExpression(`f()${'.a'.repeat(expressionLimits.depth + 1)}`),
    ExpressionError,
  )
  const text = (length: number) => `'${'x'.repeat(length - 2)}'`
  assert.ok(parseExpression(text(expressionLimits.characters)))
  assert.throws(() => parseExpression(text(expressionLimits.characters + 1)), ExpressionError)
})

test('any text gives a tree that reads back as itself, or a refusal with a place in the text', () => {
  const piece = fc.oneof(
    fc.constantFrom('f', '(', ')', '[', ']', '.', '?', ',', "'", '1', '-', ' ', 'ns.g()', "'a'"),
    fc.string({ unit: 'binary', maxLength: 3 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('')
      try {
        const printed = print(parseExpression(text))
        assert.equal(print(parseExpression(printed)), printed)
      } catch (error) {
        // The only refusal that is allowed. This test looks for any other.
        if (!(error instanceof ExpressionError)) throw error
        assert.ok(error.at >= 0 && error.at <= text.length)
      }
    }),
    { numRuns: runsOf(3000) },
  )
})
