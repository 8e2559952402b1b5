/**
 * The bundles of the published package: what `tools/build.ts` packs, and what servers under test run (`tests/bundles.ts`).
 */

import { readdirSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { makeWholeSchema } from './whole-schema.ts'

const source = join(import.meta.dirname, '..', 'src')

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
  'engines/databases/postgres/looks/main.ts',
  'engines/databases/postgres/worker.ts',
  'outbound/names/main.ts',
  'outbound/tls-thread/main.ts',
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
 * Node makes all that a built-in module has when a program imports or requires it: a client for HTTP and web sockets, the
 * files of promises with a reader of lines, the root certificates as text. Asked for in this way it makes what is used.
 * Here is what nothing in the bundles uses of each; a named import of it fails the build.
 */
const lazyBuiltins: Readonly<Record<string, readonly string[]>> = {
  http: ['WebSocket', 'CloseEvent', 'MessageEvent'],
  https: [],
  fs: ['promises', 'FileReadStream', 'FileWriteStream', 'Utf8Stream'],
  'fs/promises': [],
  crypto: ['webcrypto', 'subtle', 'getRandomValues'],
  tls: ['rootCertificates'],
  util: ['aborted', 'transferableAbortController', 'transferableAbortSignal'],
}

function lazyNameOf(id: string): string | undefined {
  const name = id.replace(/^node:/, '')
  return Object.hasOwn(lazyBuiltins, name) ? name : undefined
}

/** Files of promises are loaded at the first call. */
function exportOf(name: string, key: string, value: unknown): string {
  return name === 'fs/promises' && typeof value === 'function'
    ? `export const ${key} = (...given) => built().${key}(...given)`
    : `export const ${key} = built${name === 'fs/promises' ? '()' : ''}.${key}`
}

const lazily: Plugin = {
  name: 'lazy-builtins',
  resolveId(id, _, { kind }) {
    const name = lazyNameOf(id)
    if (name === undefined) return null
    return `\0${kind === 'require-call' ? 'required' : 'lazy'}:${name}`
  },
  load(id) {
    const [, how, name = ''] = /^\0(lazy|required):(.+)$/.exec(id) ?? []
    if (how === undefined) return null
    const get = `process.getBuiltinModule('node:${name}')`
    // What requires it reads of it what it uses, by any name, also of those that are no longer listed.
    if (how === 'required') return `module.exports = ${get}`
    const builtin: object = process.getBuiltinModule(name) ?? {}
    const never = ['default', 'constants', ...(lazyBuiltins[name] ?? [])]
    const names = Object.entries(Object.getOwnPropertyDescriptors(builtin))
      .filter(([key, { enumerable }]) => enumerable === true && !never.includes(key))
      .map(([key, { value }]) => exportOf(name, key, value))
    return name === 'fs/promises'
      ? `const built = () => ${get}\n${names.join('\n')}\n`
      : `const built = ${get}\nexport default built\nexport const constants = built.constants\n${names.join('\n')}\n`
  },
}

/** In a build, the tables of a new SQLite store are made at once. */
const wholeSchema: Plugin = {
  name: 'whole-schema',
  async load(id) {
    if (id !== join(source, 'main', 'whole-schema.ts')) return null
    return `export const wholeSchema = ${JSON.stringify(await makeWholeSchema())}\n`
  },
}

/**
 * Koa asks of every body whether it is a `Response`, and the first time anybody names that class, Node loads its whole
 * client for HTTP. None of our bodies is one.
 */
const withoutResponse: Plugin = {
  name: 'without-response',
  transform(code, id) {
    if (!/[\\/]node_modules[\\/]koa[\\/]lib[\\/](?:application|response)\.js$/.test(id)) return null
    const test = /\b\w+ instanceof Response\b/
    if (!test.test(code)) throw new Error(`${id} no longer looks for a Response`)
    return code.replace(test, 'false')
  },
}

/** What `find-my-way` makes of text at a start, 330 times, and what stands for it. The last one is never called without constraints. */
const compiledAtStart = [
  [
    /return new Function\('path', 'i', `'use strict'\\nreturn \$\{lines\.join\(' && '\)\}`\)/,
    'return (path, i) => path.startsWith(prefix, i)',
  ],
  [
    /return new Function\('NullObject', fnBody\.join\('\\n'\)\)\(NullObject\)/,
    `return (...given) => {
      const made = new NullObject()
      for (let i = 0; i < params.length; i++) made[params[i]] = i < 4 ? given[i] : given[4][i - 4]
      return made
    }`,
  ],
  [
    /this\._getHandlerMatchingConstraints = new Function\('derivedConstraints', lines\.join\('\\n'\)\)/,
    `this._getHandlerMatchingConstraints = function (given) {
      this._getHandlerMatchingConstraints = new Function('derivedConstraints', lines.join('\\n'))
      return this._getHandlerMatchingConstraints(given)
    }`,
  ],
] as const

/** Paths are compared by functions that are there, instead of by functions that are made of text at each start. */
const withoutCompiling: Plugin = {
  name: 'without-compiling',
  transform(code, id) {
    const file = /[\\/]find-my-way[\\/]lib[\\/](?:node|handler-storage)\.js$/
    if (!file.test(id)) return null
    const found = compiledAtStart.filter(([text]) => text.test(code))
    if (found.length !== (id.endsWith('node.js') ? 1 : 2)) {
      throw new Error(`${id} makes functions of text in other places than was known`)
    }
    return found.reduce((text, [from, to]) => text.replace(from, () => to), code)
  },
}

/**
 * A text with one character outside of ASCII takes twice the memory, and three times as long to read. Escaped, it means the
 * same in strings, templates, patterns and comments, but not in `String.raw`.
 */
const inAscii: Plugin = {
  name: 'in-ascii',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue
      if (chunk.code.includes('String.raw`')) throw new Error(`${chunk.fileName} has raw texts`)
      chunk.code = chunk.code.replaceAll(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
    }
  },
}

const server = join(source, 'main.ts')

/**
 * Which modules nothing but a server loads: they make one file. By itself the bundler makes one for each combination of
 * users, and thirty of them at a start, of which each takes a millisecond to be found. What threads and workers load as well
 * makes another one: the bundler would put it into the server's, and each of them would load all of that.
 */
class ServerModules {
  readonly plugin: Plugin
  #ids: ReadonlySet<string> = new Set()
  #shared: ReadonlySet<string> = new Set()

  constructor() {
    const keep = (ids: ReadonlySet<string>, shared: ReadonlySet<string>): void => {
      this.#ids = ids
      this.#shared = shared
    }
    this.plugin = {
      name: 'server-modules',
      buildEnd() {
        const from = (roots: readonly string[], next: (id: string) => readonly string[]) => {
          const seen = new Set<string>()
          const open = [...roots]
          for (let id = open.pop(); id !== undefined; id = open.pop()) {
            if (seen.has(id)) continue
            seen.add(id)
            open.push(...next(id))
          }
          return seen
        }
        const imported = (id: string) => this.getModuleInfo(id)?.importedIds ?? []
        const loaded = (id: string) => this.getModuleInfo(id)?.dynamicallyImportedIds ?? []
        const others = entries
          .filter((path) => path !== 'index.ts')
          .map((path) => join(source, path))
        const elsewhere = from(others, (id) =>
          id === server ? [] : [...imported(id), ...loaded(id)],
        )
        const modules = [...from([server], imported)]
        const isOwn = (id: string): boolean => id === server || !elsewhere.has(id)
        keep(new Set(modules.filter(isOwn)), new Set(modules.filter((id) => !isOwn(id))))
      },
    }
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Loaded by a server, and without one. */
  shares(id: string): boolean {
    return this.#shared.has(id)
  }
}

/** Writes the bundles of all entries into a folder, with the layout of `src/`. */
export async function bundleInto(target: string): Promise<void> {
  const serverModules = new ServerModules()
  const build = await rolldown({
    input: Object.fromEntries(
      entries.map((path) => [path.replace(/\.ts$/, ''), join(source, path)]),
    ),
    platform: 'node',
    external: (id) => (isBuiltin(id) && lazyNameOf(id) === undefined) || besideUs.test(id),
    plugins: [
      serverModules.plugin,
      ownAddress,
      lazily,
      wholeSchema,
      withoutResponse,
      withoutCompiling,
      inAscii,
    ],
    // A dependency of the sign-in has one. In sources of ours Biome refuses it.
    checks: { eval: false },
    // Node 22 lacks `using` and the class behind it.
    transform: {
      target: 'node22',
      inject: {
        AsyncDisposableStack: ['@whatwg-node/disposablestack', 'AsyncDisposableStack'],
        DisposableStack: ['@whatwg-node/disposablestack', 'DisposableStack'],
      },
    },
  })
  await build.write({
    dir: target,
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
          test: /\/src\/(?:kernel|client|config|cli\/output)\/|\/src\/(?:config|cli\/(?!run\.)[^/]+)\.ts$|^\0lazy:(?:fs|util)$/,
        },
        { name: 'shared', test: (id) => serverModules.shares(id) },
        { name: 'server', test: (id) => serverModules.has(id) },
      ],
    },
  })
  await build.close()
}
