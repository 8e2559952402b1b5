/** Groups that are made, many at once, through a real plane over the simulated engine. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { realTimers } from '#plane/testing/start.ts'
import { until } from '../../../../../tests/until.ts'
import { done, groups, refused } from '../../testing/ask.ts'
import { body, startContainers } from '../../testing/start.ts'
import { EnginePlaces } from './engine-places.ts'

test('three groups of a resource group are made at once, and those of others meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-engine-places-'))
  const held = Promise.withResolvers<void>()
  let making = 0
  class SlowEngine extends SimulatedEngine {
    override async create(...given: Parameters<SimulatedEngine['create']>): Promise<void> {
      if (given[1].hostname?.startsWith('slow')) {
        making += 1
        await held.promise
      }
      await super.create(...given)
    }
  }
  try {
    await using started = await startContainers({
      engine: (clock) =>
        new SlowEngine({ folder, installation: 'test', clock, timers: realTimers }),
    })
    const slow = (n: number): string => `${groups.replace('/rg/', '/slow/')}/slow${n}`
    for (let n = 0; n < 12; n++) await started.call('PUT', slow(n), body())
    await until(() => making >= 3)
    await started.call('PUT', `${groups}/one`, body())
    await started.until('one', done)
    // One that waits is removed without a place.
    await started.call('DELETE', slow(11))
    for (let looks = 0; looks < 200; looks++) {
      const found = await started.call('GET', slow(11)).catch(() => undefined)
      if (found === undefined) break
      await sleep(50)
    }
    await refused(started.call('GET', slow(11)), 404, 'ResourceNotFound')
    assert.equal(making, 3)
    held.resolve()
  } finally {
    held.resolve()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('resource groups leave places to others, and their own after a minute, and none waits when all ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-engine-places-'))
  try {
    const clock = { now: () => 0 }
    const begun: string[] = []
    const held = Promise.withResolvers<void>()
    class HeldEngine extends SimulatedEngine {
      override async remove(group: string): Promise<void> {
        begun.push(group)
        await held.promise
      }
    }
    const engine = new HeldEngine({ folder, installation: 't', clock, timers: realTimers })
    const minutes: (() => void)[] = []
    const places = new EnginePlaces(engine, {
      after: (milliseconds, run) => {
        if (milliseconds !== 60_000) return realTimers.after(10, run)
        minutes.push(run)
        return { cancel() {} }
      },
    })
    const remove = (group: string, subscription = 's', isWanted = true) =>
      places
        .for(`/subscriptions/${subscription}/resourcegroups/${group}`, async () => isWanted)
        .remove(group)
    const works = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'd', 'e', 'f'].map((one) =>
      remove(one),
    )
    works.push(remove('other', 't'))
    await until(() => begun.includes('other'))
    // Six of any, three of groups that had none, and one of another subscription.
    assert.deepEqual(begun, ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'd', 'e', 'other'])
    await assert.rejects(remove('a', 's', false), /not wanted/)
    for (const pass of minutes.slice(0, 2)) pass()
    await until(() => begun.length === 11)
    assert.equal(begun.at(-1), 'f')
    places.close()
    held.resolve()
    const ended = await Promise.allSettled(works)
    const reasons = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason.message] : []))
    assert.deepEqual(reasons, ['the server is closing', 'the server is closing'])
    await assert.rejects(remove('late'), /closing/)
    assert.equal(begun.length, 11)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
