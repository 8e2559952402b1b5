import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Paces } from './paces.ts'

test('of a domain of which some names were slow and none was quick, others are slow the first time, too', () => {
  const paces = new Paces()
  for (const name of ['1', '2', '3', '4']) {
    assert.equal(paces.of(`${name}.dead.example`), 'unknown')
    paces.remember(`${name}.dead.example`, 'slow')
    assert.equal(paces.of(`${name}.dead.example`), 'slow')
  }
  assert.equal(paces.of('5.dead.example'), 'slow')
  assert.equal(paces.of('dead.example.co.uk'), 'unknown')
  paces.remember('2.dead.example', 'quick')
  assert.equal(paces.of('1.dead.example'), 'slow')
  assert.equal(paces.of('2.dead.example'), 'quick')
  assert.equal(paces.of('5.dead.example'), 'unknown')
})

test('slow names below one name of a domain make others slow below that one alone', () => {
  const paces = new Paces()
  for (let at = 0; at < 100; at++) paces.remember(`${at}.dead.shared.example`, 'slow')
  assert.equal(paces.of('new.dead.shared.example'), 'slow')
  assert.equal(paces.of('new.other.shared.example'), 'unknown')
  assert.equal(paces.of('shared.example'), 'unknown')
  for (const one of ['a', 'b', 'c']) paces.remember(`new.${one}.shared.example`, 'slow')
  assert.equal(paces.of('new.other.shared.example'), 'slow')
})

test('any number of slow names make no domain slow that had a quick one', () => {
  const paces = new Paces()
  paces.remember('one.shared.example', 'quick')
  for (let at = 0; at < 1000; at++) paces.remember(`${at}.shared.example`, 'slow')
  assert.equal(paces.of('two.shared.example'), 'unknown')
})

test('a domain with any number of names has none of others forgotten', () => {
  const paces = new Paces()
  paces.remember('one.quiet.test', 'quick')
  for (let at = 0; at < 20_000; at++) paces.remember(`${at}.many.example`, 'quick')
  assert.equal(paces.of('one.quiet.test'), 'quick')
  assert.equal(paces.of('19999.many.example'), 'quick')
  assert.equal(paces.of('0.many.example'), 'unknown')
})

test('any number of domains with many names each have none of a domain with few forgotten', () => {
  const paces = new Paces()
  paces.remember('one.quiet.test', 'quick')
  for (let at = 0; at < 20_000; at++) paces.remember(`${at}.many-${at % 150}.example`, 'quick')
  for (let at = 0; at < 20_000; at++) paces.remember(`${at}.many-${at % 150}.test`, 'quick')
  assert.equal(paces.of('one.quiet.test'), 'quick')
})

test('of many domains those that were used last are remembered', () => {
  const paces = new Paces()
  for (let at = 0; at < 10_001; at++) {
    paces.remember('used.test', 'slow')
    paces.remember(`${at}.test`, 'slow')
  }
  assert.equal(paces.of('0.test'), 'unknown')
  assert.equal(paces.of('2.test'), 'slow')
  assert.equal(paces.of('10000.test'), 'slow')
  assert.equal(paces.of('used.test'), 'slow')
})
