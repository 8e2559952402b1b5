import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerState, GroupSpec, ObservedContainer, ObservedGroup } from './engine.ts'
import { type Desired, givenUpSeconds, nextRestart, nextStep } from './next-step.ts'

const now = 1_000_000_000
const docker = { pullsByItself: false, startsByItself: false, restartsByItself: true }
const podman = { ...docker, restartsByItself: false }
const kubelet = { pullsByItself: true, startsByItself: true, restartsByItself: true }

const running: ContainerState = { kind: 'running', startedAt: now }
const created: ContainerState = { kind: 'created' }
const ended = (exitCode: number, agoSeconds = 0): ContainerState => ({
  kind: 'terminated',
  exitCode,
  startedAt: now - 3_600_000,
  finishedAt: now - agoSeconds * 1000,
  reason: exitCode === 0 ? 'Completed' : 'Error',
})

function spec(restart: GroupSpec['restart'] = 'always'): GroupSpec {
  const names = ['init', 'web', 'side']
  const parts = names.map((name) => ({
    name,
    init: name === 'init',
    image: `${name}:1`,
    environment: [],
    mounts: [],
    limits: {},
  }))
  return { hash: 'h1', restart, parts, volumes: [], ports: [] }
}

function seen(
  states: Record<string, ContainerState>,
  more: Partial<ObservedGroup> = {},
): ObservedGroup {
  const parts = Object.entries(states).map(
    ([name, state]): ObservedContainer => ({
      name,
      hash: 'h1',
      state,
      restartCount: 0,
      imageId: 'i',
    }),
  )
  return {
    empty: false,
    hash: 'h1',
    sandbox: 'up',
    parts,
    address: undefined,
    published: [],
    imagesPresent: new Set(),
    ...more,
  }
}

const nothing = seen({}, { empty: true, hash: undefined, sandbox: 'none' })
const all = new Set(['init:1', 'web:1', 'side:1'])
const allCreated = { init: created, web: created, side: created }
const up = { init: ended(0), web: running, side: running }
const lost = givenUpSeconds + 1

const rows: readonly [string, Desired, GroupSpec | undefined, ObservedGroup, object][] = [
  ['absent and empty', 'absent', undefined, nothing, { kind: 'settled' }],
  ['absent and there', 'absent', undefined, seen(up), { kind: 'remove' }],
  ['absent, volumes left', 'absent', undefined, { ...nothing, empty: false }, { kind: 'remove' }],
  ['stopped and up', 'stopped', spec(), seen(up), { kind: 'stop' }],
  ['stopped and never made', 'stopped', spec(), nothing, { kind: 'settled' }],
  ['first image', 'running', spec(), nothing, { kind: 'pull', image: 'init:1' }],
  [
    'next image',
    'running',
    spec(),
    { ...nothing, imagesPresent: new Set(['init:1', 'side:1']) },
    { kind: 'pull', image: 'web:1' },
  ],
  ['images here', 'running', spec(), { ...nothing, imagesPresent: all }, { kind: 'create' }],
  [
    'half made',
    'running',
    spec(),
    seen({ init: created }, { imagesPresent: all }),
    { kind: 'create' },
  ],
  ['init first', 'running', spec(), seen(allCreated), { kind: 'start', parts: ['init'] }],
  [
    'init running',
    'running',
    spec(),
    seen({ ...allCreated, init: running }),
    { kind: 'wait', reason: "init container 'init' has not ended yet" },
  ],
  [
    'then the others at once',
    'running',
    spec(),
    seen({ ...allCreated, init: ended(0) }),
    { kind: 'start', parts: ['web', 'side'] },
  ],
  ['all up', 'running', spec(), seen(up), { kind: 'settled' }],
  [
    'init failed for good',
    'running',
    spec('never'),
    seen({ ...allCreated, init: ended(2) }),
    { kind: 'stuck', part: 'init', reason: 'init container ended with code 2' },
  ],
  [
    'init failed, the engine tries again',
    'running',
    spec(),
    seen({ ...allCreated, init: ended(2) }),
    { kind: 'wait', reason: "init container 'init' has not ended yet" },
  ],
  [
    'just died: the engine’s turn',
    'running',
    spec(),
    seen({ ...up, web: ended(1, 1) }),
    { kind: 'settled' },
  ],
  [
    'given up by the engine',
    'running',
    spec(),
    seen({ ...up, web: ended(0, lost) }),
    { kind: 'restart', part: 'web', startedAt: now - 3_600_000 },
  ],
  [
    'done for good',
    'running',
    spec('on-failure'),
    seen({ ...up, web: ended(0, lost) }),
    { kind: 'settled' },
  ],
  [
    'failed for good',
    'running',
    spec('never'),
    seen({ ...up, web: ended(1, lost) }),
    { kind: 'settled' },
  ],
  ['another hash, running', 'running', { ...spec(), hash: 'h2' }, seen(up), { kind: 'stop' }],
  [
    'another hash, stopped',
    'running',
    { ...spec(), hash: 'h2' },
    seen({ web: ended(0) }, { sandbox: 'down' }),
    { kind: 'remove' },
  ],
  ['the network is lost', 'running', spec(), seen(up, { sandbox: 'down' }), { kind: 'stop' }],
]

for (const [name, desired, wanted, observed, step] of rows) {
  test(`next step: ${name}`, () => {
    assert.deepEqual(nextStep(desired, wanted, observed, { engine: docker, now }), step)
  })
}

test('next step: an engine that pulls and starts by itself is neither asked to', () => {
  assert.equal(nextStep('running', spec(), nothing, { engine: kubelet, now }).kind, 'create')
  assert.equal(nextStep('running', spec(), seen(allCreated), { engine: kubelet, now }).kind, 'wait')
})

test('an image that is not to be had is nothing to wait for', () => {
  const states = {
    init: created,
    web: { kind: 'waiting', reason: 'ImagePullBackOff', imageMissing: true } as const,
    side: created,
  }
  assert.deepEqual(nextStep('running', spec(), seen(states), { engine: kubelet, now }), {
    kind: 'stuck',
    part: 'web',
    reason: 'ImagePullBackOff',
    image: 'web:1',
  })
})

test('an engine that does not restart by itself gets steps for it, after pauses that grow with each short run', () => {
  const short = (agoSeconds: number): ContainerState => ({
    kind: 'terminated',
    exitCode: 0,
    startedAt: now - agoSeconds * 1000 - 50,
    finishedAt: now - agoSeconds * 1000,
    reason: 'Completed',
  })
  for (const [state, restarts, restart, seconds] of [
    [short(0), 0, 'always', 1],
    [short(0), 4, 'always', 16],
    [short(15), 4, 'always', 1],
    [short(0), 30, 'always', 60],
    // An hour of work counts as the first.
    [ended(0), 30, 'always', 1],
    [ended(1), 30, 'on-failure', 1],
    [short(0), 0, 'on-failure', undefined],
    [short(0), 0, 'never', undefined],
    [running, 0, 'always', undefined],
  ] as const) {
    const observed = seen({ ...up, web: state })
    const look = { engine: podman, now, restartsOf: () => restarts }
    assert.equal(nextStep('running', spec(restart), observed, look).kind, 'settled')
    const at = nextRestart(spec(restart), observed, look)
    assert.equal(at === undefined ? undefined : (at - now) / 1000, seconds)
    if (at === undefined || state.kind !== 'terminated') continue
    const { startedAt } = state
    assert.deepEqual(nextStep('running', spec(restart), observed, { ...look, now: at + 1 }), {
      ...{ kind: 'restart', part: 'web', startedAt },
    })
  }
})
