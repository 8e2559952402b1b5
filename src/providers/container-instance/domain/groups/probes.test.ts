import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { spec } from '#engines/containers/contract/fixture.ts'
import type { Probe } from '#engines/containers/engine.ts'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { silentLog } from '#kernel/ports.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { CommandPace } from './command-pace.ts'
import { followEngineEvents, KnownEnds } from './follow-events.ts'
import { GroupIndex } from './group-index.ts'
import { type PlannedProbe, ProbeBoard } from './probes.ts'

/** Timers that fire by hand. */
class HandTimers {
  readonly #waiting = new Set<{
    readonly milliseconds: number
    readonly callback: () => unknown
  }>()

  after(milliseconds: number, callback: () => unknown): { cancel(): void } {
    const one = { milliseconds, callback }
    this.#waiting.add(one)
    return { cancel: () => void this.#waiting.delete(one) }
  }

  /** Fires those of this length, and waits for what follows at once. */
  async fire(length: number): Promise<void> {
    for (const one of [...this.#waiting]) {
      if (one.milliseconds !== length) continue
      this.#waiting.delete(one)
      one.callback()
    }
    for (let turn = 0; turn < 20; turn++) await nextTurn()
  }
}

const command: Probe = { kind: 'exec', command: ['true'] }
const request: Probe = { kind: 'http', scheme: 'http', port: 1, path: '/', headers: [] }

function plans(probe: Probe, count: number): readonly PlannedProbe[] {
  const times = { initialDelaySeconds: 0, periodSeconds: 3600, timeoutSeconds: 1 }
  const schedule = { probe, ...times, failureThreshold: 1, successThreshold: 1 }
  const kind = 'liveness'
  return Array.from({ length: count }, (_, at) => ({
    part: `part-${at}`,
    kind,
    schedule,
    startedAt: 0,
  }))
}

test('three commands of a resource group begin in a second, however many probes it has', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-probes-'))
  const timers = new HandTimers()
  const clock = { now: () => 0 }
  const begun = { exec: 0, http: 0 }
  class CountedProbes extends SimulatedEngine {
    override async describe() {
      return { ...(await super.describe()), runsPrograms: true }
    }
    override async probe(...[, , probe]: Parameters<SimulatedEngine['probe']>) {
      begun[probe.kind] += 1
      return { healthy: true, message: '' }
    }
  }
  try {
    const engine = new CountedProbes({ folder, installation: 't', clock, timers })
    const pace = new CommandPace(engine, (milliseconds, run) => timers.after(milliseconds, run))
    const board = new ProbeBoard({ engine, clock, timers, pace, wake: () => {} })
    for (let group = 0; group < 4; group++) board.watch(`g${group}`, 'a', plans(command, 10))
    board.watch('g4', 'a', plans(request, 10))
    await timers.fire(0)
    assert.deepEqual(begun, { exec: 3, http: 10 })
    await timers.fire(1000)
    assert.equal(begun.exec, 6)
    // All together have six, the last two only resource groups without one.
    for (const owner of ['b', 'c', 'd', 'e']) board.watch(owner, owner, plans(command, 10))
    await timers.fire(0)
    assert.equal(begun.exec, 6 + 3)
    board.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a probe that has ended takes no turn, and at the end of the process what ends commands waits for none', async () => {
  const timers = new HandTimers()
  const clock = { now: () => 0 }
  const folder = mkdtempSync(join(tmpdir(), 'armature-probes-'))
  const begun: string[] = []
  class NamedProbes extends SimulatedEngine {
    override async describe() {
      return { ...(await super.describe()), runsPrograms: true }
    }
    override async probe(...[group]: Parameters<SimulatedEngine['probe']>) {
      begun.push(group)
      return { healthy: true, message: '' }
    }
  }
  try {
    const engine = new NamedProbes({ folder, installation: 't', clock, timers })
    const pace = new CommandPace(engine, (milliseconds, run) => timers.after(milliseconds, run))
    const board = new ProbeBoard({ engine, clock, timers, pace, wake: () => {} })
    for (const [group, count] of [
      ['first', 3],
      ['gone', 3],
      ['other', 3],
    ] as const) {
      board.watch(group, 'a', plans(command, count))
      await timers.fire(0)
    }
    board.watch('gone', 'a', [])
    await timers.fire(1000)
    assert.deepEqual(begun.slice(3, 6), ['other', 'other', 'other'])
    board.close()
    const client = new AbortController()
    const begins = assert.rejects(pace.turn('a', client.signal), /gone/)
    const ends = Promise.all(Array.from({ length: 9 }, () => pace.turn('a')))
    pace.close()
    await ends
    await pace.turn('a')
    client.abort(new Error('gone'))
    await begins
    // Nor does it take one where there is room.
    await assert.rejects(new CommandPace(engine).turn('a', client.signal), /gone/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the end of a command by another one takes a turn as well', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-probes-'))
  const timers = new HandTimers()
  const clock = { now: () => 0 }
  const begun = { probes: 0, ends: 0 }
  class LateProbes extends SimulatedEngine {
    override async describe() {
      return { ...(await super.describe()), runsPrograms: true }
    }
    override async probe(...[, , probe]: Parameters<SimulatedEngine['probe']>) {
      begun.probes += 1
      if (probe.kind === 'exec') void probe.turn?.().then(() => (begun.ends += 1))
      return { healthy: false, message: '' }
    }
  }
  try {
    const engine = new LateProbes({ folder, installation: 't', clock, timers })
    const pace = new CommandPace(engine, (milliseconds, run) => timers.after(milliseconds, run))
    const board = new ProbeBoard({ engine, clock, timers, pace, wake: () => {} })
    board.watch('g', 'a', plans(command, 3))
    await timers.fire(0)
    assert.deepEqual(begun, { probes: 3, ends: 0 })
    await timers.fire(1000)
    assert.deepEqual(begun, { probes: 3, ends: 3 })
    board.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('probes that wait for long leave their places to others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-probes-'))
  const timers = new HandTimers()
  const machine = new HandTimers()
  const clock = { now: () => 0 }
  const silent = Promise.withResolvers<void>()
  const begun: string[] = []
  class SilentProbes extends SimulatedEngine {
    override async probe(...[group]: Parameters<SimulatedEngine['probe']>) {
      begun.push(group)
      await silent.promise
      return { healthy: true, message: '' }
    }
  }
  try {
    const engine = new SilentProbes({ folder, installation: 't', clock, timers })
    const pace = new CommandPace(engine, (milliseconds, run) => machine.after(milliseconds, run))
    const board = new ProbeBoard({ engine, clock, timers, pace, wake: () => {} })
    for (const owner of 'abcdefgh') {
      board.watch(owner, owner, plans(request, owner < 'e' ? 10 : 1))
    }
    await timers.fire(0)
    assert.equal(begun.length, 32)
    board.watch('mine', 'mine', plans(request, 1))
    await timers.fire(0)
    assert.ok(!begun.includes('mine'))
    await machine.fire(5000)
    await timers.fire(0)
    assert.ok(begun.includes('mine'))
    board.close()
    silent.resolve()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

for (const { what, isThere, length } of [
  { what: 'a group that is gone', isThere: false, length: 3_600_000 },
  { what: 'a group that nobody here looks at any more', isThere: true, length: 1_200_000 },
]) {
  // Another replica deleted it, or works on it.
  test(`the probes of ${what} end, and begin when it is observed again`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'armature-probes-'))
    const timers = new HandTimers()
    const clock = { now: () => 0 }
    let probed = 0
    class CountedProbes extends SimulatedEngine {
      override async probe(...given: Parameters<SimulatedEngine['probe']>) {
        probed += 1
        return isThere ? { healthy: true, message: '' } : await super.probe(...given)
      }
    }
    try {
      const engine = new CountedProbes({ folder, installation: 't', clock, timers })
      const pace = new CommandPace(engine, (milliseconds, run) => timers.after(milliseconds, run))
      const board = new ProbeBoard({ engine, clock, timers, pace, wake: () => {} })
      board.watch('g', 'a', plans(request, 1))
      await timers.fire(0)
      assert.equal(probed, 1)
      await timers.fire(length)
      await timers.fire(3_600_000)
      assert.equal(probed, 1)
      board.watch('g', 'a', plans(request, 1))
      await timers.fire(0)
      assert.equal(probed, 2)
      board.close()
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

test('no command is run in the container that replaced its own, whoever replaced it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-probes-'))
  const timers = new HandTimers()
  let now = 0
  const clock = { now: () => now }
  let probed = 0
  class CountedProbes extends SimulatedEngine {
    override async describe() {
      return { ...(await super.describe()), runsPrograms: true }
    }
    override probe(...given: Parameters<SimulatedEngine['probe']>) {
      probed += 1
      return super.probe(...given)
    }
  }
  await using held = new AsyncDisposableStack()
  held.defer(() => rmSync(folder, { recursive: true }))
  const engine = held.use(new CountedProbes({ folder, installation: 't', clock, timers }))
  const image = 'r.example/a:1'
  const part = { name: 'part-0', init: false, image, environment: [], mounts: [], limits: {} }
  const make = async (hash: string) => {
    const wanted = spec([part], { hash })
    await engine.create('g', wanted)
    await engine.start('g', wanted, [part.name])
  }
  await engine.pull(image)
  await make('one')
  const pace = new CommandPace(engine, (milliseconds, run) => timers.after(milliseconds, run))
  const probes = new ProbeBoard({ engine, clock, timers, pace, wake: () => {} })
  held.defer(() => probes.close())
  const index = new GroupIndex({ async *each() {} } as unknown as Reader)
  const ends = new KnownEnds()
  const stop = new AbortController()
  held.defer(() => stop.abort())
  const followed = { engine, index, ends, probes, clock, timers, log: silentLog }
  void followEngineEvents(followed, () => {}, stop.signal)
  probes.watch('g', 'a', plans(command, 1))
  await timers.fire(0)
  assert.equal(probed, 1)
  now = 1000
  await engine.remove('g')
  await make('two')
  await timers.fire(3_600_000)
  assert.equal(probed, 1)
})
