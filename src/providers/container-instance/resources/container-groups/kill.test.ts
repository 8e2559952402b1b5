/**
 * The process dies at each call of the engine in turn, just before and just after its effect, during create, update
 * and delete. The next process must end where the first would have, and leave nothing behind.
 */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { ContainerEngine } from '#engines/containers/engine.ts'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { memoryStore, realTimers } from '#plane/testing/start.ts'
import { base, body, type Shown, startContainers, web } from '../../testing/start.ts'

const path = `${base}/containerGroups/one`
const init = { initContainers: [web('exit:0', 'init')] }
const before = body([web(), web('', 'sidecar')], init)
const after = body([web('log:new'), web('', 'sidecar')], init)

type Moment = 'before' | 'after'

const steps = ['pull', 'create', 'start', 'stop', 'remove', 'observe'] as const

/** An engine whose caller dies at the given call: from then on nothing is answered. */
function dying(engine: ContainerEngine, calls: number, moment: Moment) {
  let left = calls
  const death = Promise.withResolvers<void>()
  const proxy = new Proxy(engine, {
    get(target, name) {
      // Methods of the engine, bound to it since it has private members.
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const bound = member.bind(target) as (...given: readonly unknown[]) => unknown
      if (!steps.some((step) => step === name)) return bound
      return async (...given: readonly unknown[]) => {
        if (left === 0) {
          if (moment === 'after') await bound(...given)
          left--
          death.resolve()
        }
        if (left < 0) throw new Error('killed')
        left--
        return await bound(...given)
      }
    },
  })
  return { engine: proxy, died: death.promise }
}

const settled = (one: Shown) => one.properties.provisioningState === 'Succeeded'

interface Trial {
  readonly what: string
  /** What exists before the trial, if anything. */
  readonly first?: object
  readonly call: 'PUT' | 'DELETE'
  readonly given?: object
}

const trials: readonly Trial[] = [
  { what: 'create', call: 'PUT', given: before },
  { what: 'update', first: before, call: 'PUT', given: after },
  { what: 'delete', first: before, call: 'DELETE' },
]

/** False if the work was done before the death. */
async function dieAt(trial: Trial, calls: number, moment: Moment): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'armature-kill-'))
  const store = await memoryStore()
  let skew = 0
  const movedClock = {
    now: () => Date.now() + skew,
    advance: (seconds: number) => {
      skew += seconds * 1000
    },
  }
  const common = { folder, store, movedClock }
  const open = () =>
    new SimulatedEngine({ folder, installation: 'test', clock: movedClock, timers: realTimers })
  try {
    if (trial.first !== undefined) {
      await using setup = await startContainers(common)
      await setup.call('PUT', path, trial.first)
      await setup.until('one', settled)
      await setup.settle()
    }
    const fatal = dying(open(), calls, moment)
    let died = false
    {
      await using doomed = await startContainers({ ...common, engine: () => fatal.engine })
      await doomed.call(trial.call, path, trial.given)
      const ended = async (): Promise<void> => {
        await doomed.settle()
      }
      died = await Promise.race([fatal.died.then(() => true), ended().then(() => false)])
    }
    // What the dead process held is free again when its leases have expired.
    movedClock.advance(600)
    await using next = await startContainers(common)
    if (trial.call === 'PUT') {
      const group = await next.until('one', settled)
      assert.equal(group.properties.instanceView.state, 'Running')
      assert.equal(group.properties.containers.length, 2)
      const hashes = new Set((await next.engine.list()).map(({ hash }) => hash))
      assert.equal(hashes.size, 1, 'containers of two versions are there')
      await next.call('DELETE', path)
    }
    for (let looks = 0; looks < 500 && (await next.engine.list()).length > 0; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.deepEqual(await next.engine.list(), [])
    await next.settle()
    await assert.rejects(next.call('GET', path), { status: 404 })
    return died
  } finally {
    await store[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }
}

const callsMax = 60

describe('killed at every step', () => {
  for (const trial of trials) {
    for (const moment of ['before', 'after'] as const) {
      test(`${trial.what}, ${moment} the call`, async () => {
        let calls = 0
        while (calls < callsMax && (await dieAt(trial, calls, moment))) calls++
        assert.ok(calls > 2, `died ${calls} times only`)
        assert.ok(calls < callsMax, 'the work never ended by itself')
      })
    }
  }
})
