/**
 * Finds the client programs of PostgreSQL (`pg_dump`, `pg_restore`) and reads their version. Runs them for nothing else, and
 * loads no driver.
 */

import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface ClientPrograms {
  /** The folder that contains both. */
  readonly folder: string
  /** `15.18`. */
  readonly version: string
  readonly major: number
  /** The bound of memory of each run, and of each of its processes. */
  readonly memoryBytesMax: number
}

/** Enough for the structure of 100,000 tables (decision 0290). */
const memoryMegabytes = 2048

/** The folders of packages; the newest version wins. */
const packageRoots: readonly (readonly [folder: string, inside: string])[] = [
  ['/usr/lib/postgresql', 'bin'],
  ['/opt/homebrew/opt', 'bin'],
  ['/usr/local/opt', 'bin'],
]
const plainFolders: readonly string[] = ['/usr/local/pgsql/bin', '/usr/local/bin', '/usr/bin']

/** The newest client programs of this machine, or those in `given`; undefined when there are none. */
export async function findClientPrograms(
  given?: string,
  megabytes = memoryMegabytes,
): Promise<ClientPrograms | undefined> {
  const memoryBytesMax = megabytes * 2 ** 20
  const folders = given === undefined ? candidates() : [given]
  let best: ClientPrograms | undefined
  for (const folder of folders) {
    if (!['pg_dump', 'pg_restore'].every((name) => existsSync(join(folder, name)))) continue
    const version = await versionOf(join(folder, 'pg_dump'))
    if (version === undefined) continue
    const major = Number.parseInt(version, 10)
    if (best === undefined || major > best.major) {
      best = { folder, version, major, memoryBytesMax }
    }
  }
  return best
}

function candidates(): readonly string[] {
  const packaged = packageRoots.flatMap(([root, inside]) =>
    existsSync(root)
      ? readdirSync(root)
          .filter((name) => /^(\d+|postgresql@\d+|libpq)$/.test(name))
          .map((name) => join(root, name, inside))
      : [],
  )
  return [...packaged, ...plainFolders]
}

async function versionOf(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 10_000 })
    return /(\d+(?:\.\d+)*)/.exec(stdout)?.[1]
  } catch {
    // A broken installation counts as missing; the caller reports what was looked for.
    return undefined
  }
}
