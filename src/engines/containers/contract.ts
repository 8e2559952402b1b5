/**
 * The promises of `engine.ts` as tests, for every engine alike. Promises about what programs see inside a
 * container stand in `contract-programs.ts`. Nothing here is timed: tests wait for a state, and fail when
 * it does not come.
 */

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ContainerEngine,
  type ContainerSpec,
  EngineError,
  type EngineErrorKind,
  type EngineEvent,
  type GroupContents,
  type GroupSpec,
  type ObservedContainer,
  type ObservedGroup,
} from './engine.ts'
import { type Desired, nextStep, type Step } from './next-step.ts'
import { performStep } from './perform-step.ts'

/** What a test container shall do. Each engine translates it. */
export interface Program {
  readonly print?: string
  /** When left out, the program runs until it is stopped. */
  readonly exitCode?: number
  readonly afterSeconds?: number
}

/** An engine and where it runs. */
export interface Backend extends AsyncDisposable {
  /** A new client of the same engine, as another process would open it. */
  open(installation: string): ContainerEngine
  /** An image that needs no registry. */
  readonly image: string
  readonly unknownImage: string
  program(program: Program): Pick<ContainerSpec, 'command' | 'environment'>
  /** Lets a little time pass: really, or on the engine's own clock. */
  pass(): Promise<void>
  now(): number
  /** Repeats less in tests whose containers cost a real process. */
  readonly isBrief?: boolean
  /** Ends the shared network without the engine's client. */
  breakSandbox(installation: string, group: string): Promise<void>
}

/** Opens an engine, or returns the reason why this machine has none. */
export type OpenBackend = () => Promise<Backend | string>

/** Tells a test whether it can run here. */
export type Require = (t: TestContext, available: boolean, how: string) => boolean

/** What the tests of one suite share. */
export interface ContractFixture {
  backend(): Backend
  engine(): ContainerEngine
  test(name: string, body: (fixture: ContractFixture) => Promise<void>): void
  /** A group that no other test uses. */
  group(): string
}

const passesMax = 600
export const graceSeconds = 1

/** Suites may share an engine. */
let groups = 0

/** Opens an engine before the tests of a suite and closes it after them, also when they fail. */
export function withFixture(
  name: string,
  open: OpenBackend,
  require: Require,
  body: (fixture: ContractFixture) => void,
): void {
  describe(name, () => {
    let opened: Backend | string = 'not opened'
    let engine: ContainerEngine | undefined
    const fixture: ContractFixture = {
      backend: () => {
        if (typeof opened === 'string') throw new Error(opened)
        return opened
      },
      engine: () => {
        if (engine === undefined) throw new Error('not opened')
        return engine
      },
      group: () => {
        groups += 1
        return `g${groups}`
      },
      test: (title, run) => {
        test(title, async (t) => {
          const reason = typeof opened === 'string' ? opened : ''
          if (require(t, reason === '', reason)) await run(fixture)
        })
      },
    }
    before(async () => {
      opened = await open()
      if (typeof opened !== 'string') engine = opened.open('contract')
    })
    after(async () => {
      await engine?.[Symbol.asyncDispose]()
      if (typeof opened !== 'string') await opened[Symbol.asyncDispose]()
    })
    body(fixture)
  })
}

/** A part that does `program`. */
export function part(
  fixture: ContractFixture,
  name: string,
  program: Program = {},
  more: Partial<ContainerSpec> = {},
): ContainerSpec {
  return {
    name,
    init: false,
    image: fixture.backend().image,
    mounts: [],
    limits: {},
    ...fixture.backend().program(program),
    ...more,
  }
}

export function spec(parts: readonly ContainerSpec[], more: Partial<GroupSpec> = {}): GroupSpec {
  return { hash: 'h1', restart: 'never', parts, volumes: [], ports: [], ...more }
}

interface Drive {
  readonly desired?: Desired
  readonly contents?: GroupContents
  /** Repeats every step with a new client, as after a kill just after the step. */
  readonly twice?: boolean
  /** Repeats a step whose error may pass, as the reconciler does. */
  readonly patient?: boolean
}

/** Takes steps until nothing is left to do, as the reconciler does; returns the steps. */
export async function drive(
  fixture: ContractFixture,
  group: string,
  wanted: GroupSpec | undefined,
  options: Drive = {},
): Promise<readonly Step[]> {
  const engine = fixture.engine()
  const description = await engine.describe()
  const images = wanted?.parts.map((each) => each.image) ?? []
  const steps: Step[] = []
  for (let pass = 0; pass < passesMax; pass++) {
    const observed = await engine.observe(group, images)
    const desired = options.desired ?? 'running'
    const step = nextStep(desired, wanted, observed, {
      engine: description,
      now: fixture.backend().now(),
    })
    if (step.kind === 'settled' || step.kind === 'stuck') return [...steps, step]
    const material = {
      graceSeconds,
      ...(wanted === undefined ? {} : { spec: wanted }),
      contents: async () => options.contents ?? {},
    }
    if (step.kind === 'wait') await fixture.backend().pass()
    else {
      steps.push(step)
      try {
        await performStep(engine, group, step, material)
      } catch (error) {
        const later = error instanceof EngineError && error.retry === 'later'
        if (options.patient !== true || !later) throw error
        await fixture.backend().pass()
      }
    }
    if (options.twice === true) {
      await using other = fixture.backend().open('contract')
      await performStep(other, group, step, material)
    }
  }
  throw new Error(`not settled after ${passesMax} looks: … ${JSON.stringify(steps.slice(-5))}`)
}

/** Observes until `ready` holds. */
export async function until(
  fixture: ContractFixture,
  group: string,
  ready: (observed: ObservedGroup) => boolean | Promise<boolean>,
): Promise<ObservedGroup> {
  for (let pass = 0; ; pass++) {
    const observed = await fixture.engine().observe(group)
    if (await ready(observed)) return observed
    if (pass >= passesMax) assert.fail(`never came: ${JSON.stringify(observed)}`)
    await fixture.backend().pass()
  }
}

/** Observes, and restarts what the engine does not restart by itself, until a part has run so often and `ready` holds. */
export async function untilRunAgain(
  fixture: ContractFixture,
  group: string,
  wanted: GroupSpec,
  { name, runs, ready = () => true }: RunAgain,
): Promise<ObservedGroup> {
  const engine = fixture.engine()
  const description = await engine.describe()
  const begun = new Set<number>()
  return until(fixture, group, async (observed) => {
    const { state, restartCount } = partOf(observed, name)
    if ('startedAt' in state) begun.add(state.startedAt)
    if (!description.restartsByItself) {
      const step = nextStep('running', wanted, observed, {
        engine: description,
        now: fixture.backend().now(),
      })
      if (step.kind === 'restart') await performStep(engine, group, step, { graceSeconds })
    }
    return Math.max(begun.size, restartCount + 1) >= runs && ready(observed)
  })
}

interface RunAgain {
  readonly name: string
  readonly runs: number
  readonly ready?: (observed: ObservedGroup) => boolean
}

/** Lets time pass until `work` is done. */
async function meanwhile<T>(fixture: ContractFixture, work: Promise<T>): Promise<T> {
  let done = false
  const noted = work.finally(() => {
    done = true
  })
  noted.catch(() => {})
  for (let pass = 0; pass < passesMax && !done; pass++) await fixture.backend().pass()
  return await noted
}

export function partOf(observed: ObservedGroup, name: string): ObservedContainer {
  const found = observed.parts.find((each) => each.name === name)
  assert.ok(found, `no part '${name}'`)
  return found
}

export async function logOf(
  fixture: ContractFixture,
  group: string,
  name: string,
  options = {},
): Promise<string> {
  let text = ''
  for await (const bytes of fixture.engine().logs(group, name, options)) text += Buffer.from(bytes)
  return text
}

async function fails(work: Promise<unknown>, kind: EngineErrorKind): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof EngineError, String(error))
    assert.equal(error.kind, kind, error.message)
    return true
  })
}

const isEnded = (name: string) => (observed: ObservedGroup) =>
  partOf(observed, name).state.kind === 'terminated'

/**
 * `otherwise` names promises that do not apply to an engine by its own description, each with the reason; they are
 * tested in its own way beside it. A name that is no promise is a fault.
 */
export function containerEngineContract(
  name: string,
  open: OpenBackend,
  require: Require,
  otherwise: Readonly<Record<string, string>> = {},
): void {
  const left = new Set(Object.keys(otherwise))
  withFixture(`container engine contract: ${name}`, open, require, (fixture) => {
    const applying: ContractFixture = {
      ...fixture,
      test: (title, body) => {
        if (!left.delete(title)) fixture.test(title, body)
      },
    }
    promiseLooks(applying)
    promiseLives(applying)
    promiseRepeats(applying)
    promiseRefusals(applying)
    promiseStreams(applying)
    if (left.size > 0) throw new Error(`no promise is called ${[...left].join(', ')}`)
  })
}

function promiseLooks({ test }: ContractFixture): void {
  test('describes itself, and says the same each time', async (fixture) => {
    const first = await fixture.engine().describe()
    assert.deepEqual(await fixture.engine().describe(), first)
    assert.notEqual(first.title, '')
  })

  test('a group never heard of is an empty observation', async (fixture) => {
    const observed = await fixture.engine().observe('nobody', [fixture.backend().unknownImage])
    assert.deepEqual(observed, {
      empty: true,
      hash: undefined,
      sandbox: 'none',
      parts: [],
      address: undefined,
      published: [],
      imagesPresent: new Set(),
    })
  })

  test('an image in no registry cannot be pulled, one that is there need not be', async (fixture) => {
    const { image, unknownImage } = fixture.backend()
    await assert.rejects(fixture.engine().pull(unknownImage), EngineError)
    await fixture.engine().pull(image)
    const observed = await fixture.engine().observe('nobody', [image, unknownImage])
    assert.deepEqual(observed.imagesPresent, new Set([image]))
    const names = (await fixture.engine().images()).map((each) => each.name)
    assert.ok(names.includes(image) && !names.includes(unknownImage))
  })

  test('all that is made carries the labels, and no other installation sees it', async (fixture) => {
    const group = fixture.group()
    const wanted = spec([part(fixture, 'web')], { volumes: [{ kind: 'empty', name: 'data' }] })
    await drive(fixture, group, wanted)
    const owned = (await fixture.engine().list()).filter((each) => each.group === group)
    assert.deepEqual(owned.map(({ kind, part }) => `${kind} ${part}`).sort(), [
      'container undefined',
      'container web',
      'volume undefined',
    ])
    assert.ok(owned.every((each) => each.hash === 'h1'))
    await using stranger = fixture.backend().open('stranger')
    assert.deepEqual(await stranger.list(), [])
    assert.equal((await stranger.observe(group)).empty, true)
    await stranger.remove(group)
    assert.equal(partOf(await fixture.engine().observe(group), 'web').state.kind, 'running')
  })
}

function promiseLives({ test }: ContractFixture): void {
  test('create makes parts in order and starts none; start starts them', async (fixture) => {
    const group = fixture.group()
    const wanted = spec([part(fixture, 'zeta'), part(fixture, 'alpha')])
    await fixture.engine().pull(fixture.backend().image)
    await fixture.engine().create(group, wanted)
    const made = await fixture.engine().observe(group)
    assert.equal(made.sandbox, 'up')
    assert.deepEqual(
      made.parts.map(({ name, state, hash }) => [name, state.kind, hash]),
      [
        ['zeta', 'created', 'h1'],
        ['alpha', 'created', 'h1'],
      ],
    )
    await fixture.engine().start(group, wanted, ['zeta', 'alpha'])
    const running = await fixture.engine().observe(group)
    assert.ok(running.parts.every((each) => each.state.kind === 'running'))
    assert.match(running.address ?? '', /^\d+\.\d+\.\d+\.\d+$/)
  })

  test('a part that never restarts keeps its exit code', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'job', { exitCode: 3 })]))
    const observed = await until(fixture, group, isEnded('job'))
    const { state, restartCount } = partOf(observed, 'job')
    assert.ok(state.kind === 'terminated')
    assert.deepEqual([state.exitCode, state.reason, restartCount], [3, 'Error', 0])
    assert.ok(state.startedAt <= state.finishedAt)
  })

  test('on-failure restarts a failure and leaves a success alone', async (fixture) => {
    const group = fixture.group()
    const parts = [part(fixture, 'bad', { exitCode: 7 }), part(fixture, 'good', { exitCode: 0 })]
    const wanted = spec(parts, { restart: 'on-failure' })
    await drive(fixture, group, wanted)
    const seen = await untilRunAgain(fixture, group, wanted, { name: 'bad', runs: 3 })
    const good = partOf(await until(fixture, group, isEnded('good')), 'good')
    assert.ok(good.state.kind === 'terminated')
    assert.deepEqual([good.state.reason, good.restartCount], ['Completed', 0])
    assert.notEqual(partOf(seen, 'bad').state.kind, 'created')
    await drive(fixture, group, undefined, { desired: 'absent' })
  })

  test('always restarts a success too, and tells of the end before', async (fixture) => {
    const group = fixture.group()
    const parts = [part(fixture, 'loop', { exitCode: 0, afterSeconds: 1 })]
    const wanted = spec(parts, { restart: 'always' })
    await drive(fixture, group, wanted)
    const ready = (each: ObservedGroup) => partOf(each, 'loop').state.kind === 'running'
    const seen = await untilRunAgain(fixture, group, wanted, { name: 'loop', runs: 2, ready })
    const loop = partOf(seen, 'loop')
    assert.ok(loop.state.kind === 'running' && loop.previous !== undefined)
    assert.ok(loop.previous.finishedAt <= loop.state.startedAt)
    // Not every engine reports it. One that does reports the beginning of the same run.
    const { startedAt, finishedAt } = loop.previous
    assert.ok(startedAt === undefined || startedAt <= finishedAt)
    await drive(fixture, group, undefined, { desired: 'absent' })
  })

  test('init parts run one after the other, before the others', async (fixture) => {
    const group = fixture.group()
    const init = { init: true }
    const wanted = spec([
      part(fixture, 'first', { exitCode: 0 }, init),
      part(fixture, 'second', { exitCode: 0 }, init),
      part(fixture, 'main'),
    ])
    await drive(fixture, group, wanted)
    const { parts } = await fixture.engine().observe(group)
    const [first, second, main] = parts.map((each) => each.state)
    assert.ok(first?.kind === 'terminated' && second?.kind === 'terminated')
    assert.ok(main?.kind === 'running')
    assert.ok(first.finishedAt <= second.startedAt && second.finishedAt <= main.startedAt)
  })

  test('a failed init part keeps the others from starting', async (fixture) => {
    const group = fixture.group()
    const wanted = spec([
      part(fixture, 'prepare', { exitCode: 9 }, { init: true }),
      part(fixture, 'main'),
    ])
    const last = (await drive(fixture, group, wanted)).at(-1)
    assert.ok(last?.kind === 'stuck' && last.part === 'prepare')
    assert.equal(partOf(await fixture.engine().observe(group), 'main').state.kind, 'created')
  })

  test('stop ends everything, keeps the log, and lasts; running again makes it anew', async (fixture) => {
    const group = fixture.group()
    const wanted = spec([part(fixture, 'web', { print: 'here I am' })], { restart: 'always' })
    await drive(fixture, group, wanted)
    await drive(fixture, group, wanted, { desired: 'stopped' })
    const stopped = await fixture.engine().observe(group)
    assert.equal(stopped.sandbox, 'down')
    assert.equal(partOf(stopped, 'web').state.kind, 'terminated')
    assert.match(await logOf(fixture, group, 'web'), /here I am/)
    await fixture.backend().pass()
    assert.deepEqual(await fixture.engine().observe(group), stopped)
    await drive(fixture, group, wanted)
    assert.equal(partOf(await fixture.engine().observe(group), 'web').state.kind, 'running')
  })

  test('another hash is in the way until it is removed, then it is replaced', async (fixture) => {
    const group = fixture.group()
    const old = spec([part(fixture, 'web'), part(fixture, 'old')])
    const fresh = spec([part(fixture, 'web')], { hash: 'h2' })
    await drive(fixture, group, old)
    await fails(fixture.engine().create(group, fresh), 'busy')
    const steps = await drive(fixture, group, fresh)
    assert.deepEqual(
      steps.map((step) => step.kind),
      ['stop', 'remove', 'create', 'start', 'settled'],
    )
    const observed = await fixture.engine().observe(group)
    assert.deepEqual(
      observed.parts.map(({ name, hash }) => [name, hash]),
      [['web', 'h2']],
    )
  })

  test('remove leaves nothing, running or half made', async (fixture) => {
    const group = fixture.group()
    const volumes = [
      { kind: 'empty', name: 'data' },
      { kind: 'files', name: 'keys', fileMode: 0o400 },
    ] as const
    const contents = { files: new Map([['keys', [{ name: 'k', bytes: Buffer.from('v') }]]]) }
    const wanted = spec([part(fixture, 'web')], { volumes, restart: 'always' })
    await drive(fixture, group, wanted, { contents })
    await fixture.engine().remove(group)
    await fixture.engine().create(group, wanted, contents)
    await fixture.engine().remove(group)
    assert.equal((await fixture.engine().observe(group)).empty, true)
    assert.deepEqual(
      (await fixture.engine().list()).filter((each) => each.group === group),
      [],
    )
  })

  test('a group whose network is lost is seen as down and made anew', async (fixture) => {
    const group = fixture.group()
    const wanted = spec([part(fixture, 'web')], { restart: 'always' })
    await drive(fixture, group, wanted)
    await fixture.backend().breakSandbox('contract', group)
    await until(fixture, group, (observed) => observed.sandbox === 'down')
    await drive(fixture, group, wanted)
    const observed = await fixture.engine().observe(group)
    assert.deepEqual([observed.sandbox, partOf(observed, 'web').state.kind], ['up', 'running'])
  })

  test('restart gives a part another run, once for each run it is asked about', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'web')], { restart: 'always' }))
    const startedAt = (observed: ObservedGroup) => {
      const { state } = partOf(observed, 'web')
      return state.kind === 'running' ? state.startedAt : 0
    }
    const first = startedAt(await fixture.engine().observe(group))
    const options = { startedAt: first, graceSeconds: 0 }
    await fixture.engine().restart(group, 'web', options)
    const second = startedAt(await until(fixture, group, (each) => startedAt(each) > first))
    await fixture.engine().restart(group, 'web', options)
    assert.equal(startedAt(await fixture.engine().observe(group)), second)
    await fails(fixture.engine().restart(group, 'nobody', options), 'absent')
  })
}

function promiseRepeats({ test }: ContractFixture): void {
  test('every step may come twice, from another process', async (fixture) => {
    const group = fixture.group()
    const parts = [
      part(fixture, 'prepare', { print: 'once', exitCode: 0 }, { init: true }),
      part(fixture, 'web'),
      part(fixture, 'job', { print: 'once', exitCode: 0 }),
    ]
    const volumes = [{ kind: 'empty', name: 'data' }] as const
    const wanted = spec(parts, { volumes })
    await drive(fixture, group, wanted, { twice: true })
    const before = await until(fixture, group, isEnded('job'))
    assert.ok(before.parts.every((each) => each.restartCount === 0))
    for (const name of ['prepare', 'job']) {
      assert.equal((await logOf(fixture, group, name)).match(/^once$/gm)?.length, 1)
    }
    await drive(fixture, group, wanted, { twice: true, desired: 'stopped' })
    await drive(fixture, group, undefined, { twice: true, desired: 'absent' })
    assert.equal((await fixture.engine().observe(group)).empty, true)
  })

  test('a process that dies inside a step leaves nothing that another cannot finish', async (fixture) => {
    const volumes = [{ kind: 'files', name: 'keys', fileMode: 0o400 }] as const
    const contents = { files: new Map([['keys', [{ name: 'k', bytes: Buffer.from('v') }]]]) }
    const parts = [part(fixture, 'job', { print: 'once', exitCode: 0 }), part(fixture, 'web')]
    const wanted = spec(parts, { volumes })
    await fixture.engine().pull(fixture.backend().image)
    const deaths = fixture.backend().isBrief ? [10, 100] : [0, 10, 30, 60, 100, 150, 250]
    for (const deathMs of deaths) {
      const group = fixture.group()
      const dies = async (act: (engine: ContainerEngine) => Promise<void>) => {
        const dying = fixture.backend().open('contract')
        // It may be cut off at any point, and its result is ignored.
        const work = act(dying).catch(() => {})
        await sleep(deathMs)
        await dying[Symbol.asyncDispose]()
        await work
      }
      await dies(async (engine) => {
        await engine.create(group, wanted, contents)
        await engine.start(group, wanted, ['job', 'web'])
      })
      await drive(fixture, group, wanted, { contents, patient: true })
      const observed = await until(fixture, group, isEnded('job'))
      assert.equal(partOf(observed, 'web').state.kind, 'running')
      assert.equal((await logOf(fixture, group, 'job')).match(/^once$/gm)?.length, 1)
      await dies((engine) => engine.remove(group))
      await drive(fixture, group, undefined, { desired: 'absent', patient: true })
      const left = (await fixture.engine().list()).filter((each) => each.group === group)
      assert.deepEqual(left, [], `death after ${deathMs} ms`)
    }
  })

  test('stop and remove of nothing do nothing', async (fixture) => {
    await fixture.engine().stop('nobody', 0)
    await fixture.engine().remove('nobody')
  })

  test('groups at once do not disturb each other', async (fixture) => {
    const length = fixture.backend().isBrief ? 4 : 10
    const groups = Array.from({ length }, () => fixture.group())
    const wanted = spec([part(fixture, 'web'), part(fixture, 'side')])
    await Promise.all(groups.map((group) => drive(fixture, group, wanted)))
    for (const group of groups) {
      const { parts } = await fixture.engine().observe(group)
      assert.deepEqual(
        parts.map((each) => each.state.kind),
        ['running', 'running'],
      )
    }
    await Promise.all(groups.map((group) => fixture.engine().remove(group)))
    const left = (await fixture.engine().list()).filter((each) => groups.includes(each.group))
    assert.deepEqual(left, [])
  })
}

function promiseRefusals({ test }: ContractFixture): void {
  test('what the engine cannot do is refused before anything is made', async (fixture) => {
    const engine = fixture.engine()
    await engine.pull(fixture.backend().image)
    const web = part(fixture, 'web')
    const files = { volumes: [{ kind: 'files', name: 'keys', fileMode: 0o400 }] } as const
    const refused: readonly GroupSpec[] = [
      spec([{ ...web, gpu: 1 }]),
      spec([{ ...web, security: { privileged: true } }]),
      spec([{ ...web, security: { addCapabilities: ['ALL'] } }]),
      spec([{ ...web, security: { addCapabilities: ['CHOWN', 'cap_sys_admin'] } }]),
      spec([{ ...web, security: { seccompProfile: 'unconfined' } }]),
      spec([{ ...web, name: 'Not A Token' }]),
      spec([{ ...web, mounts: [{ volume: 'nothing', path: '/x', readOnly: false }] }]),
      spec([web], files),
      ...['/mnt,source=/', '/mnt:/etc', '/mnt/../etc', '/mnt\n', '/', 'mnt'].map((path) =>
        spec([{ ...web, mounts: [{ volume: 'data', path, readOnly: false }] }], {
          volumes: [{ kind: 'empty', name: 'data' }],
        }),
      ),
      spec([web], { volumes: [{ kind: 'host', name: 'data', folder: '/tmp,target=/' }] }),
    ]
    for (const each of refused) await fails(engine.create('refused', each), 'refused')
    await fails(engine.create('../etc', spec([web])), 'refused')
    await fails(engine.observe('a/b'), 'refused')
    assert.equal((await engine.observe('refused')).empty, true)
  })

  test('a missing image is absent at create', async (fixture) => {
    const group = fixture.group()
    const web = { ...part(fixture, 'web'), image: fixture.backend().unknownImage }
    await fails(fixture.engine().create(group, spec([web])), 'absent')
    await fixture.engine().remove(group)
  })

  test('a host port has one holder; the other waits until it is free', async (fixture) => {
    const [one, two] = [fixture.group(), fixture.group()]
    const ports = [
      { port: 80, protocol: 'tcp', publish: { address: '127.0.0.1', port: 39_181 } },
    ] as const
    const wanted = spec([part(fixture, 'web')], { ports })
    await drive(fixture, one, wanted)
    const { published } = await fixture.engine().observe(one)
    assert.deepEqual(published, [
      { port: 80, protocol: 'tcp', address: '127.0.0.1', hostPort: 39_181 },
    ])
    await fails(fixture.engine().create(two, wanted), 'busy')
    await fixture.engine().stop(one, 0)
    await drive(fixture, two, wanted)
    assert.equal((await fixture.engine().observe(two)).published.length, 1)
    await fixture.engine().remove(two)
  })

  test('an unpublished port is not published; a free choice is reported', async (fixture) => {
    const group = fixture.group()
    const ports = [
      { port: 80, protocol: 'tcp' },
      { port: 81, protocol: 'tcp', publish: { address: '127.0.0.1' } },
    ] as const
    await drive(fixture, group, spec([part(fixture, 'web')], { ports }))
    const { published } = await fixture.engine().observe(group)
    assert.equal(published.length, 1)
    assert.ok(published[0]?.port === 81 && published[0].hostPort > 0)
  })
}

function promiseStreams({ test }: ContractFixture): void {
  test('logs: the tail, the times, the end of the following', async (fixture) => {
    const group = fixture.group()
    const program = { print: 'one line', exitCode: 0, afterSeconds: 1 }
    await drive(fixture, group, spec([part(fixture, 'job', program)]))
    assert.match(
      await meanwhile(fixture, logOf(fixture, group, 'job', { follow: true })),
      /one line/,
    )
    const all = (await logOf(fixture, group, 'job')).split('\n').filter(Boolean)
    const tail = await logOf(fixture, group, 'job', { tail: 1 })
    assert.equal(tail.trimEnd(), all.at(-1))
    assert.match(
      await logOf(fixture, group, 'job', { timestamps: true }),
      /^\d{4}-\d\d-\d\dT\S+ \S/,
    )
    const later = fixture.backend().now() + 3_600_000
    assert.equal(await logOf(fixture, group, 'job', { sinceMs: later }), '')
    await fails(logOf(fixture, group, 'nobody'), 'absent')
  })

  test('following a log ends when it is aborted', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'web', { print: 'up' })]))
    const stop = new AbortController()
    const options = { follow: true, signal: stop.signal }
    for await (const bytes of fixture.engine().logs(group, 'web', options)) {
      if (bytes.length > 0) stop.abort()
    }
  })

  test('exec, attach and probes are of parts that run', async (fixture) => {
    const engine = fixture.engine()
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'job', { exitCode: 0 }), part(fixture, 'web')]))
    await until(fixture, group, isEnded('job'))
    const command = ['true']
    await fails(engine.exec(group, 'job', { command }), 'busy')
    await fails(engine.exec(group, 'nobody', { command }), 'absent')
    await fails(engine.attach(group, 'job'), 'busy')

    const session = await engine.exec(group, 'web', { command: ['echo', 'hello'] })
    await using _ = session
    await fails(session.write(Buffer.from('no input was announced')), 'refused')
    let text = ''
    for await (const { bytes } of session.output) text += Buffer.from(bytes)
    assert.match(text, /hello/)
    assert.equal(await session.exitCode(), 0)

    const probe = { kind: 'exec', command } as const
    assert.equal((await engine.probe(group, 'job', probe, 5)).healthy, false)
    assert.equal((await engine.probe(group, 'web', probe, 5)).healthy, true)
    await fails(engine.probe(group, 'nobody', probe, 5), 'absent')
  })

  test('statistics are of the running parts', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'job', { exitCode: 0 }), part(fixture, 'web')]))
    await until(fixture, group, isEnded('job'))
    const stats = await fixture.engine().stats(group)
    assert.deepEqual(
      stats.running.map((each) => each.name),
      ['web'],
    )
    const [web] = stats.running
    assert.ok((web?.memoryBytes ?? 0) > 0 && (web?.at ?? 0) > 0)
    await fails(fixture.engine().stats('nobody'), 'absent')
  })

  test('events begin with ready and report starts and ends', async (fixture) => {
    const group = fixture.group()
    const stop = new AbortController()
    const seen: EngineEvent[] = []
    const { promise: ready, resolve: readied } = Promise.withResolvers<void>()
    const followed = (async () => {
      for await (const event of fixture.engine().events(stop.signal)) {
        seen.push(event)
        if (event.kind === 'ready') readied()
        if (event.kind === 'part' && event.what === 'died' && event.group === group) stop.abort()
      }
    })()
    await ready
    await drive(fixture, group, spec([part(fixture, 'job', { exitCode: 3, afterSeconds: 1 })]))
    await until(fixture, group, isEnded('job'))
    await meanwhile(fixture, followed)
    const mine = seen.filter((event) => event.kind === 'part' && event.group === group)
    const whats = mine.map((event) =>
      event.kind === 'part' && event.part === 'job' ? event.what : '',
    )
    assert.ok(whats.includes('started'), JSON.stringify(seen))
    const died = mine.find((event) => event.kind === 'part' && event.what === 'died')
    assert.ok(died?.kind === 'part')
    assert.equal(died.exitCode, 3)
  })
}
