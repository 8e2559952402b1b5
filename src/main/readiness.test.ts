/** `/readyz`: what makes it fail, what it only reports, and how often it really checks. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import { installationMigrations } from '../installation/record.ts'
import { openReadiness } from './readiness.ts'

async function open() {
  const store = await openSqlite({
    path: ':memory:',
    migrations: installationMigrations,
    words: { namespace: 'Vendor', brand: 'Vendor' },
    transactionRetriesMax: 3,
  })
  const state = { now: 0, described: 0, answers: true }
  const readiness = openReadiness({
    sql: store.sql,
    engine: {
      async describe() {
        state.described += 1
        if (!state.answers) throw new Error('connect ENOENT /run/secret-place.sock')
      },
    },
    log: silentLog,
    ticks: () => state.now,
  })
  return { store, state, readiness, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}

test('an engine that is down is reported, is not required, and its error stays in the log', async () => {
  await using world = await open()
  world.state.answers = false
  assert.deepEqual(await world.readiness(), [
    { name: 'store', ok: true },
    {
      name: 'container engine',
      ok: false,
      reason:
        'the container engine does not answer; what is asked of it waits (ARMATURE_CONTAINERS chooses another)',
      required: false,
    },
  ])
  world.state.answers = true
  world.state.now += 2_000
  assert.deepEqual(await world.readiness(), [
    { name: 'store', ok: true },
    { name: 'container engine', ok: true, required: false },
  ])
})

test('however many ask, it looks once in a while', async () => {
  await using world = await open()
  await Promise.all(Array.from({ length: 50 }, () => world.readiness()))
  assert.equal(world.state.described, 1)
  await world.readiness()
  assert.equal(world.state.described, 1)
  world.state.now += 2_000
  await world.readiness()
  assert.equal(world.state.described, 2)
})

test('a store that is closed is not ready', async () => {
  const world = await open()
  await world[Symbol.asyncDispose]()
  const [store] = await world.readiness()
  assert.deepEqual(store, { name: 'store', ok: false, reason: 'the store takes no writes now' })
})
