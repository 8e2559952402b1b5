/**
 * The published package, packed and installed as for the image. A run makes it once, in the folder that
 * `ARMATURE_TEST_PACKAGE` names (`tests/run.ts`): building, packing and installing it are most of what its tests cost.
 */

import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../until.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

interface Made {
  readonly error?: string
  readonly warnings: readonly string[]
}

interface Packed {
  /** What the image is built from: `app` with the installed package, and `data`. */
  readonly context: string
  readonly tarball: string
  /** What npm warned about. */
  readonly warnings: readonly string[]
}

/** A copy of its own for the test, in `folder`. */
export async function packedInto(folder: string): Promise<Packed> {
  const named = process.env['ARMATURE_TEST_PACKAGE']
  const shared = named ?? mkdtempSync(join(tmpdir(), 'armature-packed-'))
  const { error, warnings } = await madeIn(shared)
  if (error !== undefined) throw new Error(error)
  const context = join(folder, 'context')
  cpSync(join(shared, 'context'), context, { recursive: true, verbatimSymlinks: true })
  if (named === undefined) rmSync(shared, { recursive: true })
  return { context, tarball: join(context, 'armature.tgz'), warnings }
}

/** Made by whoever comes first. The others wait for it. */
async function madeIn(folder: string): Promise<Made> {
  const result = join(folder, 'made.json')
  const claim = join(folder, 'claimed')
  // It returns nothing for a folder that is there.
  if (mkdirSync(claim, { recursive: true }) !== undefined) {
    writeFileSync(result, JSON.stringify(await make(join(folder, 'context'))))
  }
  const text = await until(() => existsSync(result) && readFileSync(result, 'utf8'), 100)
  // Written by one of these tests.
  return JSON.parse(text) as Made
}

async function make(context: string): Promise<Made> {
  // npm runs on the Node whose folder comes first.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
  const words = [join(root, 'tools/image.ts'), '--context', context]
  try {
    const { stderr } = await run(process.execPath, words, { cwd: root, env })
    // npm warns about the configuration of the machine, which is not about the package.
    return { warnings: stderr.split('\n').filter((line) => /warn (?!Unknown)/.test(line)) }
  } catch (error) {
    return { error: String(error), warnings: [] }
  }
}
