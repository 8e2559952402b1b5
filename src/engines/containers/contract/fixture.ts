/** What the tests of the contract share: an engine to test, groups to run on it, and waits that are not timed. */

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import {
  type ContainerEngine,
  type ContainerSpec,
  EngineError,
  type EngineErrorKind,
  type GroupContents,
  type GroupSpec,
  type ObservedContainer,
  type ObservedGroup,
} from '../engine.ts'
import { type Desired, nextStep, type Step } from '../next-step.ts'
import { performStep } from '../perform-step.ts'

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
  /** Volumes that the engine makes for each group beside those of its spec. */
  readonly ownVolumes?: number
  /** A resolver of the engine that stands before the one of the group. */
  readonly resolver?: string
  /** The host name that a group has where it asks for `the-group`, if another. */
  readonly hostname?: RegExp
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
export async function meanwhile<T>(fixture: ContractFixture, work: Promise<T>): Promise<T> {
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

/** Expects an `EngineError` of this kind. */
export async function fails(work: Promise<unknown>, kind: EngineErrorKind): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof EngineError, String(error))
    assert.equal(error.kind, kind, error.message)
    return true
  })
}

export const isEnded = (name: string) => (observed: ObservedGroup) =>
  partOf(observed, name).state.kind === 'terminated'
