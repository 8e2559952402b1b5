/** Reading filters: how operators bind, what is refused and where, and the limits. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFilter } from './parse.ts'
import { printFilter } from './print.ts'
import { lenientProfile, strictProfile } from './profile.ts'

test('binding is by operator, not by order in the text', () => {
  const table: readonly (readonly [string, string])[] = [
    ['a or b and c', 'a or (b and c)'],
    ['a and b or c', '(a and b) or c'],
    ['not a and b', '(not a) and b'],
    ['not a eq b', '(not a) eq b'],
    ['a eq b gt c', 'a eq (b gt c)'],
    ['a add b mul c', 'a add (b mul c)'],
    ['a mul b add c', '(a mul b) add c'],
    ['a sub b sub c', '(a sub b) sub c'],
    ['- a mul b', '(- a) mul b'],
    ["not a in ('x')", "not (a in ('x'))"],
    ["a eq b has X'y'", "a eq (b has X'y')"],
  ]
  for (const [text, same] of table) {
    assert.equal(printed(text), printed(same), text)
  }
  assert.notEqual(printed('a sub b sub c'), printed('a sub (b sub c)'))
})

function printed(text: string): string {
  const parsed = parseFilter(text, strictProfile)
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
  return JSON.stringify(parsed.node, (key, value) => (key === 'position' ? undefined : value))
}

test('printing keeps only the parentheses that are needed', () => {
  const table: readonly (readonly [string, string])[] = [
    ['((a eq 1))and(b eq 2)', 'a eq 1 and b eq 2'],
    ['( a or b ) and c', '(a or b) and c'],
    ['a sub (b sub c)', 'a sub (b sub c)'],
    ['(a sub b) sub c', 'a sub b sub c'],
    ['not ( a eq 1 )', 'not (a eq 1)'],
    ['-(5)', '- 5'],
    ['-5', '-5'],
    ["a in ( 'x' , 'y''z' )", "a in ('x','y''z')"],
    ["x/any( v : contains( v/n , 'q' ) )", "x/any(v:contains(v/n,'q'))"],
  ]
  for (const [text, want] of table) {
    const parsed = parseFilter(text, strictProfile)
    assert.ok(parsed.ok, text)
    assert.equal(printFilter(parsed.node), want)
  }
})

test('nodes are frozen and say where they came from', () => {
  const parsed = parseFilter("name eq 'a'  and total gt 5", strictProfile)
  assert.ok(parsed.ok)
  const { node } = parsed
  assert.ok(node.kind === 'binary')
  assert.equal(node.position, 13)
  assert.equal(node.left.position, 5)
  assert.ok(Object.isFrozen(node) && Object.isFrozen(node.left))
  assert.ok(node.right.kind === 'binary')
  assert.equal(node.right.right.position, 26)
})

/** [text, position, expected message] */
const malformedTable: readonly (readonly [string, number, RegExp])[] = [
  ['', 0, /expected a field, a value or a function, found the end/],
  ['   ', 3, /found the end/],
  ["name eq 'abc", 8, /expected a closing quote/],
  ["name eq 'abc''", 8, /expected a closing quote/],
  ["contains(name,'O'Neil')", 17, /expected "," or "\)", found "Neil" \(a quote .* twice\)/],
  ['name eq', 7, /found the end of the text/],
  ["name = 'a'", 5, /expected an operator or the end of the text, found "="/],
  ["name eq 'a' and", 15, /found the end/],
  ["name eq 'a')", 11, /found "\)"/],
  ["(name eq 'a'", 12, /expected an operator or "\)"/],
  ["name eqq 'a'", 5, /expected an operator/],
  ["name eq'a'", 7, /expected a blank/],
  ['name in ()', 9, /expected a value/],
  ['name in (1,)', 11, /expected a value/],
  ['name in 1', 8, /a list of values/],
  ['name in (total)', 9, /expected a value/],
  ['total eq 5abc', 9, /expected a number/],
  ['total eq 1.', 9, /expected a number/],
  ['total eq .5', 9, /expected a name, a value/],
  ['posted eq 2026-13-01', 10, /a day of the calendar/],
  ['posted eq 2026-02-30', 10, /a day of the calendar/],
  ['posted eq 2026-02-03T25:00:00Z', 10, /a time of day/],
  ['posted eq 2026-02-03T10:00:00', 10, /with a zone/],
  ["posted eq datetime'2026-02-03T10:00:00Z'", 10, /the value of a datetime/],
  ["lead eq duration'P1Y'", 8, /the value of a duration/],
  ["lead eq duration'P'", 8, /the value of a duration/],
  ["lead eq duration'PT'", 8, /the value of a duration/],
  ['foo(1)', 0, /a known function \(.*contains.*\), found "foo"/],
  ['contains(name)', 0, /contains with 2 arguments, found 1/],
  ['substring(name,1,2,3)', 0, /substring with 2 to 3 arguments, found 4/],
  ['lines/some(l: true)', 6, /any\(…\) or all\(…\)/],
  ['lines/any(l true)', 12, /expected ":"/],
  ['lines/all()', 10, /the name of a variable/],
  ['lines/', 6, /a name after/],
  ['a has not b', 6, /a field, a value or a function/],
  ['name eq \u0000', 8, /NUL/],
  ["name eq '\ud800'", 9, /surrogate/],
  ['name eq "a"', 8, /expected a name, a value or an operator/],
  ['a;b', 1, /expected an operator/],
  ['a eq 💥', 5, /found "💥"/],
]

test('every malformed filter is refused where the fault is', () => {
  for (const [text, position, says] of malformedTable) {
    const parsed = parseFilter(text, strictProfile)
    assert.ok(!parsed.ok, `${text} was accepted`)
    assert.match(parsed.message, says, text)
    assert.equal(parsed.position, position, text)
    assert.ok(parsed.message.includes(parsed.found), text)
  }
})

test('operators in capitals are for the lenient profile alone', () => {
  const strict = parseFilter("name EQ 'a'", strictProfile)
  assert.ok(!strict.ok)
  assert.equal(strict.position, 5)
  assert.ok(parseFilter("name EQ 'a'", lenientProfile).ok)
  assert.ok(!parseFilter("Contains(name,'a')", strictProfile).ok)
  // Printed with a slash, a dotted reserved word could not be told from the word itself.
  assert.ok(!parseFilter('not.x eq 1', lenientProfile).ok)
})

test('the limits hold, each at its number and not before', () => {
  const refuses = (text: string, says: RegExp): void => {
    const parsed = parseFilter(text, strictProfile)
    assert.ok(!parsed.ok, `${text.slice(0, 60)}… was accepted`)
    assert.match(parsed.message, says)
    assert.ok(parsed.position <= text.length)
  }
  const accepts = (text: string): void => {
    const parsed = parseFilter(text, strictProfile)
    assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
  }
  const deep = (levels: number): string => `${'('.repeat(levels)}a eq 1${')'.repeat(levels)}`
  accepts(deep(32))
  refuses(deep(33), /at most 32 levels/)
  refuses(deep(4000), /at most 32 levels/)
  refuses(`${'not '.repeat(2000)}a`, /at most 32 levels/)
  refuses('-'.repeat(8000), /at most 32 levels/)
  refuses('tolower('.repeat(1000), /at most 32 levels/)

  // Levels count when nested, not when side by side.
  accepts(Array(40).fill('(not (a))').join(' or '))
  accepts(Array(6).fill('c/any(x:c/any(y:true))').join(' or '))

  const chain = (terms: number): string => Array(terms).fill('a').join(' and ')
  accepts(chain(100)) // 100 fields and 99 operators
  refuses(chain(101), /at most 200/)

  const list = (values: number): string => `a in (${Array(values).fill('1').join(',')})`
  accepts(list(200))
  refuses(list(201), /at most 200 values/)

  const long = (length: number): string => `a eq '${'x'.repeat(length - 7)}'`
  accepts(long(8192))
  refuses(long(8193), /at most 8192 characters/)

  const nested = (levels: number): string => `${'c/any(x:'.repeat(levels)}true${')'.repeat(levels)}`
  accepts(nested(3))
  refuses(nested(4), /at most 3 any or all/)
})
