/** `npm start` ends its server with itself: npm's shell dies by a signal without passing it on. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freshHome } from './installation.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 50))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    // There is no such process.
    return false
  }
}

test('npm start ends its server when npm is told to end', {
  skip: process.platform === 'win32' ? 'signals are those of POSIX' : false,
}, async () => {
  const home = freshHome()
  try {
    const npm = spawn('npm', ['start', '--', '--port', '0'], {
      cwd: checkout,
      env: { ...process.env, ARMATURE_HOME: home, ARMATURE_CONTAINERS: 'simulated' },
      stdio: 'ignore',
    })
    const running = join(home, 'running.json')
    await until(() => existsSync(running) || npm.exitCode !== null)
    const { pid } = JSON.parse(readFileSync(running, 'utf8')) as { readonly pid: number }
    assert.ok(isAlive(pid))
    npm.kill('SIGTERM')
    await until(() => !isAlive(pid))
    assert.equal(existsSync(running), false, 'it was stopped in order')
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})
