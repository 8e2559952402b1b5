/**
 * Builds the console into `console/dist`, each file beside a compressed copy of it. With `--if-newer`, as `npm ci` runs it in a
 * checkout (`runtime/package.json`): only when its sources have changed since; and without development dependencies not at all, with a word about it.
 */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'console')
const target = join(folder, 'dist')
/** Where it is made, so that `dist` is whole at every moment. Others may build it at the same time. */
const workshop = join(root, 'node_modules', '.cache', `console-${process.pid}`)
/** Says of what sources `dist` was made. */
const stamp = 'sources.sha256'
/** Attempts to take the place of an earlier one. */
const attemptsMax = 5
/** Compresses nearly as well as 11, ten times as fast. */
const quality = 9

export async function buildConsole({ ifNewer }: { readonly ifNewer: boolean }): Promise<void> {
  const sources = hashOfSources()
  if (ifNewer && readStamp() === sources) return
  if (!existsSync(join(root, 'node_modules', 'vite'))) {
    process.stderr.write(
      '\nTHE CONSOLE IS NOT BUILT: development dependencies are left out. /console will say so; `npm ci` builds it.\n\n',
    )
    return
  }
  const { build } = await import('vite')
  await build({ configFile: join(folder, 'vite.config.ts'), build: { outDir: workshop } })
  for (const path of filesIn(workshop)) {
    const params = { [constants.BROTLI_PARAM_QUALITY]: quality }
    writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path), { params }))
  }
  writeFileSync(join(workshop, stamp), sources)
  takePlace(sources)
  rmSync(workshop, { recursive: true, force: true })
}

/** Gives way where another build of the same sources was there first. */
function takePlace(sources: string): void {
  for (let attempts = 1; ; attempts++) {
    try {
      renameSync(workshop, target)
      return
    } catch (error) {
      if (readStamp() === sources) return
      if (attempts === attemptsMax) throw error
      rmSync(target, { recursive: true, force: true })
    }
  }
}

function readStamp(): string | undefined {
  const path = join(target, stamp)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  const own = ['index.html', 'vite.config.ts'].map((name) => join(folder, name))
  // The template language comes along.
  const folders = [join(folder, 'src'), join(root, 'src', 'template')]
  for (const path of [...own, ...folders.flatMap(filesIn), join(root, 'package-lock.json')]) {
    hash.update(path.slice(root.length)).update(readFileSync(path))
  }
  return hash.digest('hex')
}

function filesIn(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildConsole({ ifNewer: process.argv.includes('--if-newer') })
}
