/** `npm start` ends its server with itself, although npm's shell dies by a signal without passing it on. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isLong } from '../long.ts'
import { until } from '../until.ts'
import { freshHome } from './installation.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    // There is no such process.
    return false
  }
}

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const
for (const signal of isLong ? signals : signals.slice(0, 1)) {
  test(
    `npm start ends its server when npm gets ${signal}`,
    {
      skip: process.platform === 'win32' ? 'signals are those of POSIX' : false,
      timeout: 360_000,
    },
    () => startAndSignal(signal),
  )
}

async function startAndSignal(signal: NodeJS.Signals): Promise<void> {
  const home = freshHome()
  try {
    const npm = spawn('npm', ['start', '--', '--port', '0'], {
      cwd: checkout,
      env: { ...process.env, ARMATURE_HOME: home, ARMATURE_CONTAINERS: 'simulated' },
      stdio: 'ignore',
      detached: true,
    })
    const running = join(home, 'running.json')
    await until(() => existsSync(running) || npm.exitCode !== null)
    const { pid } = JSON.parse(readFileSync(running, 'utf8')) as { readonly pid: number }
    assert.ok(isAlive(pid))
    // A terminal sends the signal to the whole group, and npm relies on that.
    if (signal === 'SIGINT') process.kill(-(npm.pid ?? 0), signal)
    else npm.kill(signal)
    await until(() => !isAlive(pid))
    assert.equal(existsSync(running), false, 'it was stopped in order')
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
