/** The watch over open connections: when it asks, and when it ends them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import type { Permission, PermissionAnswer } from '#plane/access.ts'
import { until } from '../../tests/until.ts'
import { createPermissionWatch } from './permission-watch.ts'

function open(answer: () => Promise<PermissionAnswer>) {
  const state = { version: '1', now: 0, looks: 0, asked: 0 }
  const watch = createPermissionWatch({
    version() {
      state.looks += 1
      return state.version
    },
    now: () => state.now,
    log: silentLog,
    everyMilliseconds: 5,
  })
  const permission: Permission = {
    principalId: 'someone',
    ask() {
      state.asked += 1
      return answer()
    },
  }
  const ended = Promise.withResolvers<string>()
  const stop = watch.watch(permission, ended.resolve)
  return { state, watch, stop, ended: ended.promise }
}

test('it asks once, and again only after a change or at the end of the token', async () => {
  const { state, stop, watch } = open(async () => ({ holds: true, until: 1000 }))
  await until(() => state.looks >= 10)
  assert.equal(state.asked, 1)
  state.version = '2'
  await until(() => state.asked === 2)
  const from = state.looks
  await until(() => state.looks >= from + 5)
  assert.equal(state.asked, 2)
  state.now = 1000
  await until(() => state.asked > 2)
  stop()
  assert.equal(watch.size(), 0)
})

test('a permission that is gone ends what was open, with the reason', async () => {
  let gone = false
  const { state, ended, watch } = open(async () =>
    gone ? { holds: false, reason: 'taken away' } : { holds: true, until: 1000 },
  )
  await until(() => state.asked === 1)
  gone = true
  state.version = '2'
  assert.equal(await ended, 'taken away')
  assert.equal(watch.size(), 0)
})

test('a store that does not answer for some looks ends it; one that answers in between does not', async () => {
  for (const silent of [
    () => Promise.reject(new Error('no answer')),
    () => new Promise<never>(() => {}),
  ]) {
    const { ended } = open(silent)
    assert.match(await ended, /cannot be confirmed/)
  }
  let fails = true
  const { state, stop, watch } = open(async () => {
    fails = !fails
    if (fails) throw new Error('no answer')
    return { holds: true, until: 0 }
  })
  await until(() => state.asked >= 20)
  assert.equal(watch.size(), 1)
  stop()
})

test('what is no longer watched is never ended', async () => {
  const { state, stop, ended } = open(async () => ({ holds: false, reason: 'gone' }))
  stop()
  const other = open(async () => ({ holds: false, reason: 'other' }))
  assert.equal(await other.ended, 'other')
  assert.equal(state.asked, 0)
  assert.equal(await Promise.race([ended, Promise.resolve('nothing')]), 'nothing')
})
