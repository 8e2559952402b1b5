/** kill -9 while events are published and changed: each event is complete with all its audiences, or absent. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../../tests/until.ts'
import { healthStore } from './testing/start.ts'

const kills = process.env['ARMATURE_TEST_LONG'] === '1' ? 20 : 4

test('what was answered is there, and nothing is there in part', async () => {
  for (let round = 0; round < kills; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'armature-health-'))
    const file = join(folder, 'store.db')
    try {
      const script = join(import.meta.dirname, 'testing', 'killed.ts')
      const child = spawn(process.execPath, [script, file], { stdio: ['ignore', 'pipe', 'ignore'] })
      let said = ''
      child.stdout.on('data', (chunk) => {
        said += String(chunk)
      })
      await until(() => /\n3\n/.test(said))
      await pause(round * 7)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const lines = said.slice(0, said.lastIndexOf('\n')).split('\n')
      const answered = Number(lines.at(-1))
      await using store = await healthStore(file)
      const all = await store.sql.all('select tracking_id, document from health_events')
      assert.ok(all.length > answered, `${all.length} of ${answered + 1}`)
      for (const row of all) {
        const event = JSON.parse(String(row['document']))
        const seen = await store.sql.all(
          'select audience, newest from health_audiences where tracking_id = ?',
          String(row['tracking_id']),
        )
        // Twenty subscriptions and the installation, all with the same change.
        assert.equal(seen.length, 21)
        const newest = -Date.parse(event.properties.lastUpdateTime)
        assert.ok(seen.every((one) => one['newest'] === newest))
      }
      const orphans = await store.sql.all(
        'select 1 from health_audiences where tracking_id not in (select tracking_id from health_events)',
      )
      assert.deepEqual(orphans, [])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
})
