/** The small pure parts: nearest names, tables, names made from texts, quoting for a shell. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { isUuid } from '#kernel/uuid.ts'
import { fc } from '../../tests/property.ts'
import { editDistance, nearestName } from '../config/nearest-name.ts'
import { formatCurl, quote } from './commands/demo/format-call.ts'
import { formatTable, printable, terminalText } from './output/table.ts'
import { uuidOf } from './uuid-of.ts'

test('edit distance', () => {
  const cases: readonly [string, string, number][] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['abc', 'acb', 1],
    ['abc', 'abxc', 1],
    ['kitten', 'sitting', 3],
  ]
  for (const [a, b, distance] of cases) assert.equal(editDistance(a, b), distance, `${a} ${b}`)
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
      assert.equal(editDistance(a, b), editDistance(b, a))
      assert.ok(editDistance(a, b) <= Math.max(a.length, b.length))
      assert.equal(editDistance(a, b) === 0, a === b)
    }),
  )
})

test('the nearest name is near, or there is none', () => {
  assert.equal(nearestName('--jsn', ['--json', '--join']), '--json')
  assert.equal(nearestName('PROT', ['port', 'host']), 'port')
  assert.equal(nearestName('zzz', ['port', 'host']), undefined)
  assert.equal(nearestName('x', []), undefined)
})

test('tables line up and let no control character through', () => {
  const rows = [
    { a: 'one', b: 'x' },
    { a: 'o', b: 'red \u001b[31m\nline' },
  ]
  const lines = formatTable(
    [
      { title: 'A', of: (row: (typeof rows)[number]) => row.a },
      { title: 'B', of: (row) => row.b },
    ],
    rows,
  )
  assert.deepEqual(lines, ['A    B', 'one  x', 'o    red \\u001b[31m\\u000aline'])
  assert.equal(printable('ü—😀'), 'ü—😀')
})

test('text of a server at a terminal moves no cursor and names no window; colours, lines and our own redrawing stay', () => {
  for (const [text, shown] of [
    ['plain\n\ttext\r\n', undefined],
    ['\u001b[31mred\u001b[39m \u001b[1;32mx\u001b[m\n', undefined],
    ['\u001b[3A\u001b[0Jline\n', undefined],
    ['\r[###---]', undefined],
    ['a\u001b[3A\u001b[0Jb', 'a\\u001b[3A\\u001b[0Jb'],
    ['line\n\u001b[1Aover', 'line\n\\u001b[1Aover'],
    ['over\rwritten', 'over\\u000dwritten'],
    ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['\u009b31m \u202e', '\\u009b31m \\u202e'],
    ['\u001b[8;1;1;1;1;1;1m', '\\u001b[8;1;1;1;1;1;1m'],
    ['\u001b[31x\u001bc', '\\u001b[31x\\u001bc'],
  ] as const) {
    assert.equal(terminalText(text, true), shown ?? text, JSON.stringify(text))
  }
  // Where we do not draw, nothing is ours.
  for (const text of ['\u001b[3A\u001b[0Jline', '\rover', '\u001b[0J']) {
    assert.equal(terminalText(text, false), printable(text))
  }
})

test('a UUID made from a text is one, and the same each time', () => {
  assert.equal(uuidOf('a'), uuidOf('a'))
  assert.notEqual(uuidOf('a'), uuidOf('b'))
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.match(
        uuidOf(text),
        /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
      assert.ok(isUuid(uuidOf(text)))
    }),
  )
})

test('what is quoted reaches a program as it was', () => {
  const texts = ['', 'plain', "it's", '$HOME `id` "x" \\ !', "'", "a\nb'c", '*']
  const script = `printf '%s\\0' ${texts.map(quote).join(' ')}`
  const output = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
  assert.deepEqual(output.split('\0').slice(0, -1), texts)
})

test('a printed call is the call', () => {
  const call = {
    operation: 1,
    title: 't',
    method: 'PUT',
    path: "/a?$filter=name%20eq%20'x'",
    body: { text: "it's" },
  }
  const printed = formatCurl('http://127.0.0.1:1', call)
  assert.match(formatCurl('https://x', call, '/a b/ca.pem'), /--cacert '\/a b\/ca\.pem'/)
  // `curl` and `npx` are replaced by functions that print their arguments.
  const script = `curl() { printf '%s\\0' "$@"; }; npx() { echo "T"; }; ${printed}`
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)
  assert.deepEqual(words, [
    '-sS',
    '-X',
    'PUT',
    "http://127.0.0.1:1/a?$filter=name%20eq%20'x'",
    '-H',
    'Authorization: Bearer T',
    '-H',
    'Content-Type: application/json',
    '-d',
    '{"text":"it\'s"}',
  ])
})
