/**
 * Builds the published package's code: `dist/` holds bundles with the layout of `src/`, and declarations of what
 * `package.json` exports. A checkout runs its sources; only an installed package runs these.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { isBuiltin } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { buildConsole } from './console.ts'

const root = join(import.meta.dirname, '..')
const source = join(root, 'src')
const target = join(root, 'dist')
/** Where it is made. It takes the place of an earlier one when it is whole, since somebody may be packing that one. */
const making = join(root, 'node_modules', '.cache', `dist-${process.pid}`)

/** What is loaded by its path at run time, or by a name in `exports`. */
const entries = [
  'index.ts',
  'client/index.ts',
  'template/index.ts',
  'embedded/index.ts',
  'embedded/container.ts',
  'cli/run.ts',
  ...filesIn('cli/commands').filter((path) => !isCommandPart(path)),
  'engines/copy/worker/main.ts',
  'engines/databases/postgres/worker.ts',
  'stores/sqlite/scan-thread.ts',
  'business/documents/pdf-thread.ts',
  'providers/resources/domain/evaluation/thread.ts',
  'providers/api-management/domain/openapi/import-thread.ts',
]

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join(folder, path.replaceAll('\\', '/')))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .sort()
}

/** The parts of the demo command are no commands, but its areas are loaded by name. */
function isCommandPart(path: string): boolean {
  return path.startsWith('cli/commands/demo/') && !path.startsWith('cli/commands/demo/areas/')
}

/** The declarations that `exports` names. */
const declared = [
  'index.d.ts',
  'client/index.d.ts',
  'template/index.d.ts',
  'embedded/index.d.ts',
  'embedded/container.d.ts',
]

const here = '__ARMATURE_ROOT__'

/**
 * A bundle stands elsewhere than the sources it was made of. Each source keeps the address it would have without
 * bundling, so that what it loads by a relative path is found in `dist/`.
 */
const ownAddress: Plugin = {
  name: 'own-address',
  transform(code, id) {
    if (!id.startsWith(source) || !code.includes('import.meta.')) return null
    const path = relative(source, id).replaceAll('\\', '/').replace(/\.ts$/, '.js')
    const url = `new URL('${here}${path}', import.meta.url)`
    return code
      .replaceAll(/import\.meta\.url(?=\W)/g, `${url}.href`)
      .replaceAll('import.meta.dirname', `decodeURIComponent(new URL('.', ${url}).pathname)`)
  },
  renderChunk(code, chunk) {
    if (!code.includes(here)) return null
    const up = relative(dirname(chunk.fileName), '.').replaceAll('\\', '/')
    return code.replaceAll(here, up === '' ? './' : `${up}/`)
  },
}

/**
 * Packages that are not on the way of every start, or hold programs or data: they are found where npm put them. All
 * others are bundled, since resolving and reading their hundreds of files was half of a start (decision 0051).
 */
const besideUs =
  /^(?:@azure\/|@duckdb\/|@fontsource\/|@jmespath-community\/|@peculiar\/|@zxcvbn-ts\/|pdfkit$|pg(?:$|\/|-)|testcontainers$|yaml(?:$|\/))/

/**
 * Node makes all that a built-in module has when a program imports or requires it, here a whole client for HTTP and web
 * sockets. Asked for in this way it makes what is used.
 */
const lazyBuiltins: Readonly<Record<string, object>> = { http, https }
const neverUsed = ['WebSocket', 'CloseEvent', 'MessageEvent', 'default']

function lazyNameOf(id: string): string | undefined {
  const name = id.replace(/^node:/, '')
  return Object.hasOwn(lazyBuiltins, name) ? name : undefined
}

const lazily: Plugin = {
  name: 'lazy-builtins',
  resolveId(id) {
    const name = lazyNameOf(id)
    return name === undefined ? null : `\0lazy:${name}`
  },
  load(id) {
    if (!id.startsWith('\0lazy:')) return null
    const name = id.slice('\0lazy:'.length)
    const made = Object.keys(lazyBuiltins[name] ?? {}).filter((key) => !neverUsed.includes(key))
    const names = made.map((key) => `export const ${key} = built.${key}`).join('\n')
    return `const built = process.getBuiltinModule('node:${name}')\nexport default built\n${names}\n`
  },
}

async function bundle(): Promise<void> {
  const build = await rolldown({
    input: Object.fromEntries(
      entries.map((path) => [path.replace(/\.ts$/, ''), join(source, path)]),
    ),
    platform: 'node',
    external: (id) => (isBuiltin(id) && lazyNameOf(id) === undefined) || besideUs.test(id),
    plugins: [ownAddress, lazily],
    // Node 22 lacks `using` and the class behind it.
    transform: {
      target: 'node22',
      inject: { AsyncDisposableStack: ['@whatwg-node/disposablestack', 'AsyncDisposableStack'] },
    },
  })
  await build.write({
    dir: making,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: false,
    // What is read at every start is short; licences stand beside the packages that they are of.
    comments: { legal: true, annotation: false, jsdoc: false },
    codeSplitting: {
      groups: [
        {
          // Shared by nearly all commands: one file instead of one for each combination of users.
          name: 'common',
          test: /\/src\/(?:kernel|client|config|cli\/output)\/|\/src\/(?:config|cli\/(?!run\.)[^/]+)\.ts$/,
        },
      ],
    },
  })
  await build.close()
}

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
  await bundle()
  declare()
  replaceEarlier()
} finally {
  rmSync(making, { recursive: true, force: true })
}
