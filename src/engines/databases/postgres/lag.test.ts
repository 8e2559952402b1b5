/** The lag in seconds, from positions in the log and their confirmations. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lag, parseLsn } from './lag.ts'

test('places in the log are read', () => {
  assert.equal(parseLsn('0/0'), 0n)
  assert.equal(parseLsn('1/0'), 0x1_0000_0000n)
  assert.equal(parseLsn('16/B374D848'), 0x16_b374_d848n)
})

test('the lag is the age of the oldest place not confirmed', () => {
  const lag = new Lag()
  for (let second = 0; second <= 4; second++) lag.push(second * 1000, BigInt(100 + second))
  assert.equal(lag.seconds(4000, 100n), 3)
  assert.equal(lag.seconds(9000, 103n), 5)
  assert.equal(lag.seconds(9000, 104n), 0)
})

test('a source without changes has no lag however long it rests', () => {
  const lag = new Lag()
  lag.push(0, 5n)
  lag.push(60_000, 5n)
  assert.equal(lag.seconds(60_000, 5n), 0)
})

test('a lag of hours is still measured, in bounded memory', () => {
  const lag = new Lag()
  for (let second = 0; second <= 20_000; second++) lag.push(second * 1000, BigInt(second))
  assert.equal(lag.seconds(20_000_000, -1n), 20_000)
  const half = lag.seconds(20_000_000, 10_000n)
  assert.ok(Math.abs(half - 9_999) <= 16, `about half of it, not ${half}`)
})
