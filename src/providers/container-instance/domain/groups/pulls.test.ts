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
import { until } from '../../../../../tests/until.ts'
import { done, groups, refused } from '../../testing/ask.ts'
import { body, type Shown, startContainers, web } from '../../testing/start.ts'
import { Pulls } from './pulls.ts'

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
    await until(() => pulling >= 13)
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

test('pulls of many groups of one subscription leave places to another one, and wait for a second', async () => {
  const pulls = new Pulls(realTimers)
  let pulling = 0
  const pull = (owner: string) =>
    pulls.pull({
      owner,
      ...{ seconds: 60, isWanted: async () => true },
      run(signal) {
        pulling += 1
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
      },
    })
  const waiting = Array.from({ length: 36 }, (_, n) =>
    pull(`/subscriptions/s/resourcegroups/g${Math.floor(n / 6)}`),
  )
  const busy = (await Promise.all(waiting.map(failedWithin))).filter((one) => one)
  assert.equal(pulling, 14)
  assert.equal(busy.length, 22)
  const other = pull('/subscriptions/other/resourcegroups/g')
  assert.equal(await failedWithin(other), false)
  assert.equal(pulling, 15)
  pulls.close()
  await Promise.allSettled([...waiting, other])
  await assert.rejects(pull('/subscriptions/last/resourcegroups/g'), /closing/)
  assert.equal(pulling, 15)
})

/** Whether it fails because others are pulled first; what has begun goes on. */
function failedWithin(pulled: Promise<void>): Promise<boolean> {
  return Promise.race([
    pulled.then(
      () => false,
      (error: unknown) => String(error).includes('other images are pulled first'),
    ),
    sleep(2000, false),
  ])
}

test('probes that never end leave places for those of other resource groups', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-probes-'))
  let hanging = 0
  class SlowProbes extends SimulatedEngine {
    override probe(...given: Parameters<SimulatedEngine['probe']>) {
      if (given[1] !== 'slow') return super.probe(...given)
      hanging += 1
      return new Promise<never>(() => {})
    }
  }
  try {
    await using started = await startContainers({
      engine: (clock) =>
        new SlowProbes({ folder, installation: 'test', clock, timers: realTimers }),
    })
    const probe = { exec: { command: ['check'] }, periodSeconds: 1, failureThreshold: 1 }
    const slow = web('', 'slow', { livenessProbe: probe, readinessProbe: probe })
    for (let n = 0; n < 20; n++) {
      await started.call('PUT', `${groups.replace('/rg/', '/slow/')}/g${n}`, body([slow]))
    }
    const ill = web('probe-fail@0s', 'web', { livenessProbe: probe })
    await started.call('PUT', `${groups}/one`, body([ill]))
    await started.until('one', restarted)
    await until(() => hanging >= 8)
    assert.equal(hanging, 8)
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

function restarted(group: Shown): boolean {
  const { containers } = group.properties
  return containers.some(({ properties }) => (properties.instanceView?.restartCount ?? 0) > 0)
}

test('a pull that has ended is looked at no more', async () => {
  const looks = new Set<() => unknown>()
  const pulls = new Pulls({
    after(milliseconds, callback) {
      if (milliseconds === 2000) looks.add(callback)
      return { cancel: () => looks.delete(callback) }
    },
  })
  const wanted = Promise.withResolvers<boolean>()
  const pulled = Promise.withResolvers<void>()
  const one = { owner: 'o', seconds: 60, isWanted: () => wanted.promise, run: () => pulled.promise }
  const done = pulls.pull(one)
  await until(() => looks.size === 1)
  const underWay = [...looks].map((look) => look())
  pulled.resolve()
  await done
  wanted.resolve(true)
  await Promise.all(underWay)
  assert.equal(looks.size, 0)
})
