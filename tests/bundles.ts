/**
 * Servers and commands that tests start as programs run the published package's bundles, which start in half the time of
 * the sources (decision 0241). The runner makes them once; a test file that is run by itself starts the sources.
 */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundleInto } from '../tools/bundle.ts'

const root = join(import.meta.dirname, '..')
const kept = join(root, 'node_modules', '.cache', 'armature-bundles')
const keptMilliseconds = 24 * 3600 * 1000
const launcher = join('bin', 'armature.mjs')
/** That of `tests/preload.ts`, where servers under test look. */
const compileCache = join(root, 'node_modules', '.cache', 'armature')

/** The launcher of bundles that were made of these sources. */
export async function bundledLauncher(): Promise<string> {
  const key = keyOfSources()
  const place = join(kept, key, 'node_modules', 'armature-plane')
  if (!existsSync(place)) {
    removeEarlier()
    mkdirSync(kept, { recursive: true })
    const made = mkdtempSync(join(kept, 'new-'))
    try {
      await makePackage(join(made, 'node_modules', 'armature-plane'))
      renameSync(made, join(kept, key))
    } catch (error) {
      rmSync(made, { recursive: true, force: true })
      // Another run made it at the same time.
      if (!existsSync(place)) throw error
    }
    await startOnce(join(place, launcher))
  }
  return join(place, launcher)
}

function keyOfSources(): string {
  const hash = createHash('sha256')
  const tools = ['tools/bundle.ts', 'tools/whole-schema.ts', 'tests/bundles.ts']
  const own = [launcher, 'package.json', 'package-lock.json', ...tools]
  const sources = globSync('src/**/*.ts', { cwd: root }).filter(
    (path) => !path.endsWith('.test.ts'),
  )
  for (const path of [...own, ...sources.sort()]) {
    hash.update(path).update(readFileSync(join(root, path)))
  }
  return hash.digest('hex').slice(0, 16)
}

function removeEarlier(): void {
  if (!existsSync(kept)) return
  for (const name of readdirSync(kept)) {
    const place = join(kept, name)
    if (Date.now() - statSync(place).mtimeMs < keptMilliseconds) continue
    rmSync(place, { recursive: true, force: true })
  }
}

/** With all that the published package holds. Dependencies are found above, where npm put them. */
async function makePackage(place: string): Promise<void> {
  await bundleInto(join(place, 'dist'))
  mkdirSync(join(place, 'bin'))
  // The launcher finds its package by its own place, so it cannot be a link.
  copyFileSync(join(root, launcher), join(place, launcher))
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly files: readonly string[]
  }
  const others = files.filter((path) => path !== 'bin' && path !== 'dist')
  for (const path of ['package.json', ...others.flatMap((one) => globSync(one, { cwd: root }))]) {
    mkdirSync(dirname(join(place, path)), { recursive: true })
    symlinkSync(join(root, path), join(place, path))
  }
}

/** Servers that tests kill write no compiled code for later ones. This one ends as it should. */
async function startOnce(program: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'armature-bundles-'))
  const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
    env: { ...process.env, ARMATURE_HOME: home, NODE_COMPILE_CACHE: compileCache },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.on('data', (chunk: Buffer) => {
    if (chunk.includes('npx armature demo')) child.kill('SIGTERM')
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  rmSync(home, { recursive: true, force: true })
  if (code !== 0) throw new Error(`serve from the bundles ended with ${code}.`)
}
