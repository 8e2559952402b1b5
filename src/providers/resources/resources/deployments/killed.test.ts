/** kill -9 in the middle of a deployment: the next process continues, and everything is deployed. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { deploymentPath, manyResources, openFile, openSeal } from '../../testing/killed.ts'
import { startDeployments } from '../../testing/start.ts'

const resources = 400
const kills = process.env['ARMATURE_TEST_LONG'] === '1' ? 20 : 4

test('killed while it deploys, the next one goes on and nothing is missing', async () => {
  let cutShort = 0
  for (let round = 0; round < kills; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'armature-killed-'))
    const file = join(folder, 'store.db')
    try {
      const script = join(import.meta.dirname, '../../testing/killed.ts')
      const child = spawn(process.execPath, [script, file, String(resources)], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      let said = ''
      child.stdout.on('data', (chunk) => {
        said += String(chunk)
      })
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
      assert.ok(said.includes('accepted'), 'the process ended before the deployment was accepted')
      await pause(round * 15)
      child.kill('SIGKILL')
      await once(child, 'exit')
      if (!said.includes('ended')) cutShort++
      await using store = await openFile(file)
      await using started = await startDeployments({ store, seal: openSeal })
      await started.settle()
      const { body } = await started.call('GET', deploymentPath)
      const shown = JSON.parse(JSON.stringify(body))
      assert.equal(shown.properties.provisioningState, 'Succeeded', JSON.stringify(shown))
      assert.equal(shown.properties.outputResources.length, resources)
      const type = 'vendor.secrets/vaults'
      assert.equal(await store.count({ under: '/', type, limit: 1000 }), resources)
      const asked = manyResources(resources)
      const whatIf = await started.call('POST', `${deploymentPath}/whatIf`, asked)
      const text = JSON.stringify(whatIf.body)
      assert.equal(text.split('"NoChange"').length - 1, resources)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  assert.ok(cutShort > 0, 'no kill came before the end, so nothing was shown')
})
