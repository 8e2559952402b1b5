/** Which home a command uses, and the message of a start whose address is taken. */

import assert from 'node:assert/strict'
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { nearestHome } from './home.ts'
import { runCli } from './testing/run-cli.ts'

test('a command in a subfolder means the installation above it, if it is one of its own', (t) => {
  const project = mkdtempSync(join(tmpdir(), 'armature-home-'))
  t.after(() => rmSync(project, { recursive: true }))
  const below = join(project, 'src', 'deep')
  mkdirSync(below, { recursive: true })
  const here = join(below, '.armature')
  assert.equal(nearestHome(here), here, 'there is none yet')
  const above = join(project, '.armature')
  mkdirSync(above)
  assert.equal(nearestHome(here), above)
  assert.equal(nearestHome(join(below, 'other')), join(below, 'other'), 'it was set')
  if (process.getuid?.() === 0) {
    chownSync(above, 65_532, 65_532)
    assert.equal(nearestHome(here), here, 'it is somebody else’s')
    chownSync(above, 0, 0)
  }
  mkdirSync(here)
  assert.equal(nearestHome(here), here)
})

test('a start whose address is taken says what to do', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'armature-home-'))
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    other.close()
    rmSync(home, { recursive: true })
  })
  const address = other.address()
  assert.ok(address !== null && typeof address === 'object')
  const environment = { ARMATURE_HOME: home, ARMATURE_CONTAINERS: 'simulated' }
  const ran = await runCli(['serve', '--port', String(address.port)], { environment })
  assert.equal(ran.code, 1)
  assert.match(ran.error, /EADDRINUSE.*`--port` another number/)
})
