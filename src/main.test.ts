/** A failed start and a stop release everything: the same process can start the same home again. */

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from './config.ts'
import { start } from './main.ts'

test('a start that fails leaves nothing open, and a stop asked for twice is waited for twice', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'armature-start-'))
  t.after(() => rmSync(home, { recursive: true }))
  const settings = { home, containers: 'simulated', logLevel: 'silent' }
  const busy = createServer()
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve))
  const { port } = busy.address() as AddressInfo
  const taken = readConfig({ environment: {}, settings: { ...settings, port } })
  await assert.rejects(start(taken), /EADDRINUSE|in use/)
  await new Promise((resolve) => busy.close(resolve))
  assert.equal(existsSync(join(home, 'running.json')), false)

  // The address is free now. Anything that the failed start still held would refuse this one, or keep the process
  // alive at the end.
  const started = await start(taken)
  assert.equal((await fetch(`${started.url}/healthz`)).status, 200)
  assert.equal(existsSync(join(home, 'running.json')), true)
  await Promise.all([started.close(), started.close()])
  assert.equal(existsSync(join(home, 'running.json')), false)
  await assert.rejects(fetch(`${started.url}/healthz`))
})
