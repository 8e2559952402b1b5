/** A full disk, under the log and under the store: nothing ends, `/readyz` reports it, and it recovers. */

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { launcher } from '../launcher.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { clientToken, freshHome, type Owner, send } from './installation.ts'

interface Server extends AsyncDisposable {
  readonly url: string
  readonly exited: () => boolean
  get(path: string): Promise<{ readonly status: number; readonly text: string }>
  put(name: string): Promise<number>
}

type Output = number | 'pipe'

/** Its output and log go to `output`, so the test learns everything from its home. */
async function serve(
  home: string,
  output: Output,
  environment: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const child = spawn(process.execPath, [launcher, 'serve', '--port', '0'], {
    env: {
      ...process.env,
      ARMATURE_HOME: home,
      ARMATURE_CONTAINERS: 'simulated',
      ARMATURE_LOG_LEVEL: 'debug',
      ARMATURE_THROTTLE: 'false',
      ...environment,
    },
    stdio: ['ignore', output, output],
  })
  child.stdout?.destroy()
  child.stderr?.destroy()
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const running = join(home, 'running.json')
  await until(() => existsSync(running) || child.exitCode !== null)
  assert.equal(child.exitCode, null, 'the server ended at its start')
  // The server's own files.
  const { localUrl, subscriptionId } = JSON.parse(readFileSync(running, 'utf8')) as Record<
    string,
    string
  >
  const url = String(localUrl)
  const owner = JSON.parse(readFileSync(join(home, 'owner.json'), 'utf8')) as Owner
  const token = await clientToken(url, owner)
  const groups = `/subscriptions/${subscriptionId}/resourceGroups`
  return {
    url,
    exited: () => child.exitCode !== null || child.signalCode !== null,
    get: (path) => send(new URL(path, url), 'GET', { token }),
    async put(name) {
      const path = `${groups}/${name}?api-version=2021-04-01`
      const tags = Object.fromEntries(
        Array.from({ length: 50 }, (_, at) => [`tag${at}`, 'x'.repeat(200)]),
      )
      const answer = await send(new URL(path, url), 'PUT', {
        token,
        body: { location: 'local', tags },
      })
      return answer.status
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

describe('the log', () => {
  async function stands(output: Output): Promise<void> {
    const home = freshHome()
    try {
      await using server = await serve(home, output)
      for (let at = 0; at < 20; at++) assert.equal(await server.put(`group${at}`), 201)
      assert.equal((await server.get('/readyz')).status, 200)
      assert.equal(server.exited(), false)
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  }

  test('on a full disk', async (t) => {
    if (!requireOrSkip(t, existsSync('/dev/full'), 'there is no /dev/full: use Linux')) return
    const full = openSync('/dev/full', 'w')
    await stands(full)
    closeSync(full)
  })

  test('to a reader that is gone', () => stands('pipe'))
})

/** Mounts a small disk; undefined if this user may not mount one. */
function mountSmall(t: TestContext, size: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'armature-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0777`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
  } catch {
    rmSync(folder, { recursive: true })
    requireOrSkip(t, false, 'a small disk cannot be mounted: run as root on Linux')
    return undefined
  }
  return folder
}

function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder])
  rmSync(folder, { recursive: true, force: true })
}

/** Fills the disk; returns a function that frees it. */
function fill(folder: string): () => void {
  const path = join(folder, 'filler')
  const file = openSync(path, 'w')
  for (let size = 1 << 20; size >= 1; size >>= 4) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size, 1))
    } catch (error) {
      assert.ok(error instanceof Error && 'code' in error && error.code === 'ENOSPC')
    }
  }
  return () => {
    closeSync(file)
    rmSync(path)
  }
}

/** Fills the disk again and again until writes are refused: space that was freed meanwhile is filled, too. */
async function fillUp(server: Server, folder: string): Promise<() => void> {
  let name = 0
  let free = fill(folder)
  await until(async () => {
    const status = await server.put(`full${name++}`)
    if (status !== 201) {
      assert.equal(status, 503)
      return true
    }
    free()
    free = fill(folder)
    return false
  })
  return free
}

async function fullAndFreed(server: Server, folder: string): Promise<void> {
  assert.equal(await server.put('before'), 201)
  assert.equal((await server.get('/readyz')).status, 200)
  const free = await fillUp(server, folder)
  await until(async () => (await server.get('/readyz')).status === 503)
  const told = await server.get('/readyz')
  assert.match(told.text, /"the store takes no writes now"/)
  assert.doesNotMatch(told.text, new RegExp(folder))
  assert.equal(server.exited(), false)
  free()
  await until(async () => (await server.get('/readyz')).status === 200)
  assert.equal(await server.put('after'), 201)
}

describe('the store', () => {
  test('SQLite, with the log on the same disk', async (t) => {
    const folder = mountSmall(t, '24m')
    if (folder === undefined) return
    const log = openSync(join(folder, 'log'), 'w')
    try {
      await using server = await serve(join(folder, 'home'), log)
      await fullAndFreed(server, folder)
      assert.equal((await server.get('/healthz')).status, 200)
    } finally {
      closeSync(log)
      unmount(folder)
    }
  })

  const skip = process.env['ARMATURE_TEST_LONG'] === undefined ? 'ARMATURE_TEST_LONG' : false
  test('PostgreSQL, with its data on the full disk', { skip }, async (t) => {
    if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
    const folder = mountSmall(t, '160m')
    if (folder === undefined) return
    const home = freshHome()
    const log = openSync('/dev/null', 'w')
    try {
      await using database = await startPostgres({ parent: folder })
      const store = await database.createDatabase()
      await using server = await serve(home, log, { ARMATURE_STORE: store })
      await fullAndFreed(server, folder)
    } finally {
      closeSync(log)
      rmSync(home, { recursive: true, force: true })
      unmount(folder)
    }
  })
})
