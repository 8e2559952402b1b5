import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { realTimers } from '#plane/testing/start.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { Backend, Program } from '../contract/fixture.ts'
import { containerEngineContract } from '../contract.ts'
import type { ContainerSpec, GroupSpec } from '../engine.ts'
import { scriptVariable } from './script.ts'
import { SimulatedEngine } from './simulated-engine.ts'

async function openSimulated(): Promise<Backend> {
  const folder = await mkdtemp(join(tmpdir(), 'armature-simulated-'))
  let now = 1_000_000_000_000
  const clock = { now: () => now }
  const open = (installation: string) =>
    new SimulatedEngine({ folder, installation, clock, timers: realTimers })
  return {
    open,
    image: 'example/web:1',
    unknownImage: 'example/pull-error:1',
    program: (program) => ({ command: [], environment: [variable(scriptOf(program))] }),
    async pass() {
      now += 500
      await setImmediate()
    },
    now: () => now,
    async breakSandbox(installation, group) {
      open(installation).loseSandbox(group)
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

const variable = (value: string) => ({ name: scriptVariable, value })

function scriptOf(program: Program): string {
  const words: string[] = []
  if (program.print !== undefined) words.push(`log:${program.print}`)
  if (program.exitCode !== undefined) {
    words.push(`exit:${program.exitCode}@${program.afterSeconds ?? 0}s`)
  }
  return words.join(';')
}

containerEngineContract('simulated', openSimulated, requireOrSkip, {
  'statistics are of the running parts': 'nothing runs, so stats is refused; a test below',
})

async function fresh(t: TestContext): Promise<{
  folder: string
  engine: SimulatedEngine
  move(ms: number): void
}> {
  const folder = await mkdtemp(join(tmpdir(), 'armature-simulated-'))
  t.after(() => rm(folder, { recursive: true }))
  let now = 1_000_000_000_000
  const engine = new SimulatedEngine({
    folder,
    installation: 'one',
    clock: { now: () => now },
    timers: realTimers,
  })
  const move = (ms: number) => {
    now += ms
  }
  return { folder, engine, move }
}

function one(name: string, script: string): ContainerSpec {
  const environment = [variable(script)]
  return { name, init: false, image: 'a/b:1', environment, mounts: [], limits: {} }
}

const group = (script: string, restart: GroupSpec['restart'] = 'always'): GroupSpec => ({
  hash: 'h',
  restart,
  parts: [one('web', script)],
  volumes: [{ kind: 'files', name: 'keys', fileMode: 0o400 }],
  ports: [],
})

const contents = {
  files: new Map([['keys', [{ name: 'k', bytes: Buffer.from('hush-hush') }]]]),
  environment: new Map([['web', new Map([['TOKEN', 'hush-hush']])]]),
}

async function running(engine: SimulatedEngine, spec: GroupSpec): Promise<void> {
  await engine.pull('a/b:1')
  await engine.create('g', spec, contents)
  await engine.start('g', spec, ['web'])
}

test('years of crashing are one look, and count every restart', async (t) => {
  const { engine, move } = await fresh(t)
  await running(engine, group('crash'))
  move(1_000)
  const first = (await engine.observe('g')).parts[0]
  assert.deepEqual(first?.state, { kind: 'waiting', reason: 'Restarting' })
  move(10 * 365 * 86_400_000)
  const later = (await engine.observe('g')).parts[0]
  assert.ok((later?.restartCount ?? 0) > 5_000_000)
})

test('the switches: a failing pull, start and probe, an end by hand', async (t) => {
  const { engine, move } = await fresh(t)
  await engine.pull('a/b:1')
  await assert.rejects(engine.create('g', group('pull-error'), contents), { kind: 'absent' })
  await assert.rejects(engine.create('g', group('exit:x'), contents), { kind: 'refused' })
  await engine.create('g', group('start-error'), contents)
  await assert.rejects(engine.start('g', group('start-error'), ['web']), { kind: 'refused' })
  await engine.remove('g')
  await running(engine, group('probe-fail@5s', 'never'))
  const probe = { kind: 'exec', command: ['x'] } as const
  assert.equal((await engine.probe('g', 'web', probe)).healthy, true)
  move(5_000)
  assert.equal((await engine.probe('g', 'web', probe)).healthy, false)
  engine.endContainer('g', 'web', 42)
  const { state } = (await engine.observe('g')).parts[0] ?? {}
  assert.ok(state?.kind === 'terminated' && state.exitCode === 42)
})

test('no secret reaches the folder, and nothing is left in it after a removal', async (t) => {
  const { engine, folder } = await fresh(t)
  await running(engine, group(''))
  const files = join(folder, 'groups')
  const texts = await Promise.all(
    (await readdir(files)).map((name) => readFile(join(files, name), 'utf8')),
  )
  assert.equal(texts.length, 1)
  assert.doesNotMatch(texts.join(), /hush/)
  await engine.remove('g')
  assert.deepEqual(await readdir(files), [])
})

test('another process finds the groups as they were left, and their time has gone on', async (t) => {
  const { engine, folder } = await fresh(t)
  await running(engine, group('exit:3@60s', 'never'))
  await engine[Symbol.asyncDispose]()
  const clock = { now: () => 1_000_000_090_000 }
  await using next = new SimulatedEngine({ folder, installation: 'one', clock, timers: realTimers })
  const { state } = (await next.observe('g')).parts[0] ?? {}
  assert.ok(state?.kind === 'terminated')
  assert.deepEqual([state.exitCode, state.finishedAt], [3, 1_000_000_060_000])
})

test('it measures nothing, and says so', async (t) => {
  const { engine } = await fresh(t)
  await running(engine, group(''))
  assert.equal((await engine.describe()).measures, false)
  await assert.rejects(engine.stats('g'), { kind: 'refused' })
  await assert.rejects(engine.stats('nobody'), { kind: 'absent' })
})
