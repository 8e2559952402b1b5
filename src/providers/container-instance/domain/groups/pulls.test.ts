/** Images of registries that never end, through a real plane over the simulated engine. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError } from '#engines/containers/engine.ts'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { realTimers } from '#plane/testing/start.ts'
import { done, groups, refused } from '../../testing/ask.ts'
import { body, startContainers, web } from '../../testing/start.ts'

test('registries that never end hold up neither other work nor the deletion of their groups', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-pulls-'))
  let pulling = 0
  class SlowRegistries extends SimulatedEngine {
    override async pull(image: string, options?: { readonly signal?: AbortSignal }): Promise<void> {
      if (!image.startsWith('slow.example/')) return super.pull(image)
      const { promise, resolve } = Promise.withResolvers<void>()
      options?.signal?.addEventListener('abort', () => resolve())
      pulling += 1
      await promise
      pulling -= 1
      throw new EngineError('unavailable', 'the pull was ended')
    }
  }
  try {
    await using started = await startContainers({
      engine: (clock) =>
        new SlowRegistries({ folder, installation: 'test', clock, timers: realTimers }),
    })
    const slow = (n: number): string =>
      `${groups.replace('/rg/', `/slow${1 + Math.floor(n / 40)}/`)}/g${n}`
    for (let n = 0; n < 120; n++) {
      const image = { image: `slow.example/i${n}:1` }
      await started.call('PUT', slow(n), body([web('', 'web', image)]))
    }
    while (pulling < 13) await sleep(10)
    await started.call('PUT', `${groups}/one`, body())
    await started.until('one', done)
    // Six of the first two resource groups. The third has one of the four places that are for groups without a pull.
    assert.equal(pulling, 13)
    await started.call('DELETE', slow(0))
    for (let looks = 0; looks < 200; looks++) {
      const found = await started.call('GET', slow(0)).catch(() => undefined)
      if (found === undefined) break
      await sleep(50)
    }
    await refused(started.call('GET', slow(0)), 404, 'ResourceNotFound')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('groups that begin at once ask the engine only once what it is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-describe-'))
  let described = 0
  class SlowEngine extends SimulatedEngine {
    override async describe(): ReturnType<SimulatedEngine['describe']> {
      described += 1
      await sleep(300)
      return super.describe()
    }
  }
  try {
    await using started = await startContainers({
      engine: (clock) =>
        new SlowEngine({ folder, installation: 'test', clock, timers: realTimers }),
    })
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => started.call('PUT', `${groups}/${name}`, body())),
    )
    for (const name of ['a', 'b', 'c', 'd']) await started.until(name, done)
    assert.equal(described, 1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
