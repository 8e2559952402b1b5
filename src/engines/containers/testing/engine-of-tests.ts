/** An engine that the tests of a file share, and the images that they make on it. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { Require } from '../contract/fixture.ts'
import { type ThrowawayPodman, testImage } from './podman.ts'

const run = promisify(execFile)

interface EngineOfTests<Started> {
  /** A test that is skipped, loudly, where there is no engine. */
  onEngine(name: string, body: (started: Started) => Promise<void>): void
  started(): Started
  /** For files of these tests; removed after them. */
  folder(): string
}

/** Starts it before the tests of a file, and ends it after them. A text says why there is none. */
export function engineOfTests<Started extends AsyncDisposable>(
  start: () => Promise<Started | string>,
  require: Require,
): EngineOfTests<Started> {
  let engine: Started | string = 'not started'
  let folder = ''
  before(async () => {
    engine = await start()
    folder = await mkdtemp(join(tmpdir(), 'armature-engine-'))
  })
  after(async () => {
    if (typeof engine !== 'string') await engine[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })
  const started = (): Started => {
    assert.ok(typeof engine !== 'string')
    return engine
  }
  return {
    started,
    folder: () => folder,
    onEngine(name, body) {
      test(name, async (t: TestContext) => {
        const reason = typeof engine === 'string' ? engine : ''
        if (require(t, reason === '', reason)) await body(started())
      })
    },
  }
}

export const hostileImage = (name: string): string => `localhost/armature-hostile/${name}:1`

/** An archive of the files that `fill` makes. Their folder has an empty `/etc`. */
export async function archived(
  folder: string,
  name: string,
  fill: (root: string) => Promise<unknown>,
): Promise<string> {
  const root = join(folder, name)
  await mkdir(join(root, 'etc'), { recursive: true })
  await fill(root)
  const tar = join(folder, `${name}.tar`)
  await run('tar', ['-C', root, '-cf', tar, '.'])
  return tar
}

/** An image of the tests' busybox with these lines. */
export async function built(
  { started, folder }: EngineOfTests<ThrowawayPodman>,
  name: string,
  lines: readonly string[],
  options: readonly string[] = [],
): Promise<string> {
  const image = hostileImage(name)
  const file = join(folder(), `Containerfile-${name}`)
  await writeFile(file, [`FROM ${testImage}`, ...lines, ''].join('\n'))
  await started().podman('build', ...options, '-t', image, '-f', file, folder())
  return image
}
