/** kill -9 in the middle of a stack, in each of its phases: the next process continues, on both stores. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { openKilled, openSeal, stackPath, stackVersion } from '../../testing/killed.ts'
import { startDeployments } from '../../testing/start.ts'

const resources = 60
const isLong = process.env['ARMATURE_TEST_LONG'] === '1'
const script = join(import.meta.dirname, '../../testing/killed.ts')

/** Whether it was killed before its end. */
async function killedAfter(store: string, milliseconds: number): Promise<boolean> {
  const child = spawn(process.execPath, [script, store, String(resources), 'stack'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += String(chunk)
  })
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  assert.ok(said.includes('accepted'), 'the process ended before the stack was accepted')
  await pause(milliseconds)
  child.kill('SIGKILL')
  await once(child, 'exit')
  return !said.includes('ended')
}

async function goesOn(place: string): Promise<void> {
  await using store = await openKilled(place)
  await using started = await startDeployments({ store, seal: openSeal })
  await started.settle()
  const { body } = await started.call('GET', stackPath, undefined, stackVersion)
  const { properties } = JSON.parse(JSON.stringify(body))
  assert.equal(properties.provisioningState, 'succeeded', JSON.stringify(properties.error))
  assert.equal(properties.resources.length, resources)
  const denied = properties.resources.filter(
    (one: { denyStatus: string }) => one.denyStatus === 'denyWriteAndDelete',
  )
  assert.equal(denied.length, resources)
  const count = (type: string): Promise<number> => store.count({ under: '/', type, limit: 1000 })
  assert.equal(await count('vendor.secrets/vaults'), resources)
  assert.equal(await count('vendor.authorization/denyassignments'), resources)
}

test('killed while a stack deploys, denies and deletes, the next one goes on and nothing is left', async () => {
  let cutShort = 0
  const kills = isLong ? 20 : 2
  for (let round = 0; round < kills; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'armature-killed-'))
    const file = join(folder, 'store.db')
    try {
      if (await killedAfter(file, isLong ? round * 30 : 50 + round * 150)) cutShort++
      await goesOn(file)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  assert.ok(cutShort > 0, 'no kill came before the end, so nothing was shown')
})

test('the same on PostgreSQL', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const kills = isLong ? 12 : 1
  for (let round = 0; round < kills; round++) {
    const url = await server.createDatabase()
    await killedAfter(url, isLong ? round * 100 : 300)
    await goesOn(url)
  }
})
