/** Secrets are taken out of everything that is shown, however many there are, and nothing else is. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Redaction } from './redact.ts'

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
