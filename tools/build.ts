/**
 * Builds the published package's code: `dist/` holds bundles with the layout of `src/`, and declarations of what
 * `package.json` exports. A checkout runs its sources; only an installed package runs these.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { bundleInto } from './bundle.ts'
import { buildConsole } from './console.ts'

const root = join(import.meta.dirname, '..')
const target = join(root, 'dist')
/** Where it is made. It takes the place of an earlier one when it is whole, since somebody may be packing that one. */
const making = join(root, 'node_modules', '.cache', `dist-${process.pid}`)

/** The declarations that `exports` names. */
const declared = [
  'index.d.ts',
  'client/index.d.ts',
  'template/index.d.ts',
  'embedded/index.d.ts',
  'embedded/container.d.ts',
]

/** Writes declarations beside the code, without the import names that only a checkout knows. */
function declare(): void {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const types = join(making, 'types')
  const project = join(root, 'tsconfig.build.json')
  execFileSync(process.execPath, [compiler, '-p', project, '--outDir', types], { stdio: 'inherit' })
  const kept = new Set<string>()
  for (const entry of declared) keepDeclaration(types, entry, kept)
  for (const path of readdirSync(types, { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('.d.ts') && !kept.has(path.replaceAll('\\', '/'))) rmSync(join(types, path))
  }
}

/** Rewrites one declaration and all that it names. */
function keepDeclaration(types: string, path: string, kept: Set<string>): void {
  if (kept.has(path)) return
  kept.add(path)
  const up = posix.relative(posix.dirname(path), '.') || '.'
  const text = readFileSync(join(types, path), 'utf8').replaceAll(
    /(['"])(#|\.{1,2}\/)([^'"]+)\.ts\1/g,
    (_, _quote, start: string, rest: string) =>
      start === '#' ? `'${up}/${rest}.js'` : `'${start}${rest}.js'`,
  )
  writeFileSync(join(types, path), text)
  for (const [, named = ''] of text.matchAll(/'(\.[^']+)\.js'/g)) {
    keepDeclaration(types, posix.join(posix.dirname(path), `${named}.d.ts`), kept)
  }
}

function replaceEarlier(): void {
  const earlier = `${making}.earlier`
  if (existsSync(target)) renameSync(target, earlier)
  renameSync(making, target)
  rmSync(earlier, { recursive: true, force: true })
}

try {
  await buildConsole({ ifNewer: true })
  await bundleInto(making)
  declare()
  replaceEarlier()
} finally {
  rmSync(making, { recursive: true, force: true })
}
