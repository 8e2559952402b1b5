/** Migrations of two replicas. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createPostgresEngine } from '#engines/databases/postgres/postgres-engine.ts'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { openWay } from '#outbound/testing/ways.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import type { Store } from '#stores/store.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { until } from '../../../../../tests/until.ts'
import {
  createMigrationPlane,
  isSettled,
  openMigrationFixture,
  openMigrationStore,
  waitsFor,
} from '../../testing/fixture.ts'

/** The store as a replica sees it, which is given work only while it is its turn. */
function storeOf(store: Store, replica: { hasTurn: boolean; claims: number }): Store {
  const claimDue: Store['claimDue'] = async (...given) => {
    const claims = replica.hasTurn ? await store.claimDue(...given) : []
    replica.claims += claims.length
    return claims
  }
  return new Proxy(store, {
    get(inner, name) {
      const member: unknown = name === 'claimDue' ? claimDue : Reflect.get(inner, name)
      // Stores have private members, so their methods are bound to them.
      return typeof member === 'function' ? member.bind(inner) : member
    },
  })
}

test('of replicas with folders of their own, the one that began a migration goes on with it', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  const folder = mkdtempSync(join(tmpdir(), 'armature-migrations-'))
  await using store = await openMigrationStore()
  const one = { hasTurn: true, claims: 0 }
  const other = { hasTurn: false, claims: 0 }
  await using w = await openMigrationFixture({ store: storeOf(store, one) })
  await using engine = createPostgresEngine({ clock: realClock, folder, outbound: openWay })
  const { settings } = w
  const given = { store: storeOf(store, other), engine, settings, allows: () => true }
  await using plane = createMigrationPlane(given)
  plane.start()
  await w.register()
  await w.make('moved')
  await w.put('m', ['moved'], { migrationMode: 'Online' })
  await w.until('m', waitsFor('WaitingForCutoverTrigger'))
  one.hasTurn = false
  other.hasTurn = true
  await until(() => other.claims >= 3)
  assert.deepEqual(await engine.list(), [])
  // It writes nothing either: neither would agree with the other when to look next.
  const [row] = await store.sql.all(
    "select document from resources where document like '%lookInSeconds%'",
  )
  assert.match(String(row?.['document']), /"lookInSeconds":0\.5\b/)
  other.hasTurn = false
  one.hasTurn = true
  await w.patch('m', { triggerCutover: 'True' })
  assert.equal((await w.until('m', isSettled)).state, 'Succeeded')
  rmSync(folder, { recursive: true, force: true })
})

test('where the clock was ahead when a replica went, another one takes its migration over at once', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  const folder = mkdtempSync(join(tmpdir(), 'armature-migrations-'))
  await using store = await openMigrationStore()
  let ahead = 5 * 60 * 60_000
  const clock = { now: () => Date.now() + ahead }
  const one = { hasTurn: true, claims: 0 }
  const other = { hasTurn: false, claims: 0 }
  await using w = await openMigrationFixture({ store: storeOf(store, one), clock })
  await using engine = createPostgresEngine({ clock: realClock, folder, outbound: openWay })
  const { settings } = w
  const given = { store: storeOf(store, other), engine, settings, allows: () => true, clock }
  await using plane = createMigrationPlane(given)
  plane.start()
  await w.register()
  await w.make('moved')
  await w.put('m', ['moved'], { migrationMode: 'Online' })
  await w.until('m', waitsFor('WaitingForCutoverTrigger'))
  one.hasTurn = false
  const [token = ''] = await w.engine.list()
  await w.engine.cancel(token, ['moved'])
  await until(async () => (await w.engine.observe(token)).worker === 'ended')
  await w.engine.forget(token)
  ahead = 0
  other.hasTurn = true
  await until(async () => (await engine.list()).length > 0)
  await w.patch('m', { cancel: 'True' })
  assert.equal((await w.until('m', isSettled)).state, 'Canceled')
  rmSync(folder, { recursive: true, force: true })
})
