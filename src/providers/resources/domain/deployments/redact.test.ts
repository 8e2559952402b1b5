/** Secrets are removed from everything that is shown, however many there are, and nothing else is. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { fc, runsOf } from '../../../../../tests/property.ts'
import { Redaction } from './redact.ts'
import { SecretFinder } from './secret-finder.ts'

const group = '/subscriptions/s/resourceGroups/sql'
const node = `${group}/providers/Vendor.Sql/servers/sql`

test('the longest secret goes first, in texts at any depth and in numbers', () => {
  const value = { a: ['abcdefghi-abcdefgh', 7, 8], b: { c: 'none' } }
  assert.deepEqual(new Redaction(['abcdefgh', 'abcdefghi', '7']).of(value), {
    a: ['*****-*****', '*****', 8],
    b: { c: 'none' },
  })
})

test('of very many secrets none is looked for by itself: every text is masked', () => {
  const secrets = Array.from({ length: 5_000 }, (_, at) => `s${at}`)
  assert.deepEqual(new Redaction(secrets).of({ a: ['x', 1, true, null] }), {
    a: ['*****', '*****', true, null],
  })
})

test('a short secret is masked as a word of its own, not within others', () => {
  const redaction = new Redaction(['sql', '1234', 'p?', '$&'])
  assert.equal(
    redaction.of("sql=1234;a:'p?' mysql, 12345 ($&) -sql-"),
    "*****=*****;a:'*****' mysql, 12345 (*****) -*****-",
  )
  assert.deepEqual(redaction.of({ sql: 1234, mysql: 'Über1234' }), {
    '*****': '*****',
    mysql: 'Über1234',
  })
})

test('ids of the deployment keep their parts, and of any id its namespaces and types', () => {
  const redaction = new Redaction(['sql', 'servers', 'Vendor', 'providers'], [node])
  assert.equal(redaction.of(node), node)
  assert.equal(redaction.of(`${node}/rules/other`), `${node}/rules/other`)
  const other = '/subscriptions/s/resourceGroups/g/providers/Vendor.Sql/servers/sql-1'
  assert.equal(redaction.of(other), other)
  assert.equal(
    redaction.of(`The resource '${node}' is not there; sql.`),
    `The resource '${node}' is not there; *****.`,
  )
})

test('a name in another id that is a secret, or in a message has one, is masked', () => {
  const redaction = new Redaction(['1234', 'a-long-secret'], [node])
  const id = (name: string): string => `${group}/providers/Vendor.Sql/servers/${name}`
  assert.equal(redaction.of(id('1234')), id('*****'))
  assert.equal(
    redaction.of(`The resource '${id('db-1234')}' was not found`),
    `The resource '${id('db-*****')}' was not found`,
  )
  assert.equal(redaction.of(id('of-a-long-secret')), id('of-*****'))
  const whole = new Redaction([id('whole')], [node])
  assert.equal(whole.of(id('whole')), '*****')
})

test('signs that mean something in patterns are signs', () => {
  for (const secret of ['pw-7', 'a/b', '^.*', '[x]', 'a\\b', '\n', '-']) {
    assert.equal(new Redaction([secret]).of(`< ${secret} >`), '< ***** >', secret)
  }
})

test('many secrets that begin alike are looked for in a long text of nothing else', () => {
  const text = 'a'.repeat(500_000)
  for (const length of [6, 20]) {
    const secrets = Array.from({ length: 999 }, (_, at) => `${'a'.repeat(length - 4)}${1000 + at}`)
    assert.equal(new Redaction(secrets).of(text), text)
    assert.equal(new Redaction(secrets).of(`${text} ${secrets[500]}`), `${text} *****`)
  }
  // An id of very many parts, beside a known one.
  const id = `/subscriptions${'/a'.repeat(100_000)}`
  assert.equal(new Redaction(['other-secret'], [node]).of(id), id)
})

// Each deployment that is under way has one.
test('what finds long secrets takes some bytes for each of their characters', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = (): number => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const digits = (at: number) => createHash('sha512').update(String(at)).digest('hex')
  const secrets = Array.from({ length: 20 }, (_, at) =>
    Array.from({ length: 24 }, (_part, part) => digits(at * 100 + part)).join(''),
  )
  const before = held()
  const all = Array.from({ length: 10 }, () => new SecretFinder(secrets, true))
  for (const one of all) assert.equal(one.masked(`< ${secrets[7]} >`), '< ***** >')
  const each = (held() - before) / all.length / secrets.join('').length
  assert.ok(each < 60, `${each} bytes for each character`)
})

// Where each place of a text is compared anew this file does not end.
test('a long secret that is nearly found everywhere is looked for once', () => {
  const half = 'a'.repeat(30_000)
  const texts = Array.from({ length: 200 }, () => 'a'.repeat(200_000))
  const redaction = new Redaction([`${half}b${half}`])
  assert.deepEqual(redaction.of(texts), texts)
})

test('what is found is what a plain look at every place finds', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', '-', 'ü'), maxLength: 30 })
  const secret = fc.string({
    unit: fc.constantFrom('a', 'b', '-', 'ü'),
    minLength: 1,
    maxLength: 10,
  })
  fc.assert(
    fc.property(
      texts,
      fc.uniqueArray(secret, { maxLength: 6 }),
      fc.boolean(),
      (text, secrets, words) => {
        assert.equal(new SecretFinder(secrets, words).masked(text), plainly(text, secrets, words))
      },
    ),
    { numRuns: runsOf(2000) },
  )
})

/** Each occurrence of each secret, joined where they overlap. */
function plainly(text: string, secrets: readonly string[], words: boolean): string {
  const letter = (at: number): boolean => /[\p{L}\p{N}]/u.test(text[at] ?? '')
  const places = secrets
    .flatMap((secret) =>
      Array.from(text, (_, at) => [at, at + secret.length] as const).filter(([from, to]) => {
        const isInside = (at: number): boolean => letter(at - 1) && letter(at)
        const isWord = !isInside(from) && !isInside(to)
        return text.startsWith(secret, from) && (!words || secret.length >= 8 || isWord)
      }),
    )
    .sort(([a], [b]) => a - b)
  let made = ''
  let shown = 0
  for (const [from, to] of places) {
    if (from >= shown) made += `${text.slice(shown, from)}*****`
    shown = Math.max(shown, to)
  }
  return made + text.slice(shown)
}
