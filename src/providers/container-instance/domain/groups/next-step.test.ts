/** The decisions about a group as a table: the desired state, the observed state, the next step. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type {
  ContainerState,
  EngineDescription,
  ObservedContainer,
} from '#engines/containers/engine.ts'
import { testSeal } from '#plane/testing/provider-context.ts'
import { type ContainerGroup, hashOf } from '../../resources/container-groups/model.ts'
import { toModel } from '../../resources/container-groups/versions/to-model.ts'
import { base, body, ids, web } from '../../testing/start.ts'
import { type GroupNext, nextGroupStep } from './next-step.ts'
import type { ContainerRecord, FailedStep, Observed, Seen } from './observation.ts'
import type { GroupHostContext } from './spec.ts'

const engine: EngineDescription = {
  kind: 'docker',
  title: 'test',
  version: '1',
  runsPrograms: true,
  pullsByItself: false,
  startsByItself: false,
  restartsByItself: true,
  probesByItself: false,
  keepsStopped: true,
  hostFolders: true,
  measures: true,
  gpu: false,
}

const around: GroupHostContext = {
  hostAddress: '127.0.0.1',
  keptPorts: [],
  shareRoot: undefined,
  cpusMax: undefined,
  processesPerContainerMax: 10,
  resolvesSecrets: false,
  clonesRepositories: false,
  allowedRegistries: [],
}

const now = 1_000_000
const image = 'registry.example/web:1'

function model(properties: object = {}, containers: readonly object[] = [web()]): ContainerGroup {
  const given = body(containers, properties) as { properties: object }
  const preparation = {
    place: `${base}/containerGroups/one`.toLowerCase(),
    location: 'here',
    tenantId: 't',
    userAssigned: {},
  }
  return toModel({ ...given, preparation }, undefined, { seal: testSeal, ids })
}

const nothing: Seen = { empty: true, sandbox: 'none', parts: [], published: [], imagesMissing: [] }

function up(of: ContainerGroup, state: ContainerState): Seen {
  const hash = hashOf(of)
  const part: ObservedContainer = { name: 'web', hash, state, restartCount: 0, imageId: 'i' }
  return { empty: false, hash, sandbox: 'up', parts: [part], published: [], imagesMissing: [] }
}

function observed(seen: Seen, more: Partial<Observed> = {}): Observed {
  return { generation: 1, seen, parts: {}, events: [], ...more }
}

const running: ContainerState = { kind: 'running', startedAt: now - 5000 }
const ended = (exitCode: number, agoSeconds: number): ContainerState => ({
  kind: 'terminated',
  exitCode,
  startedAt: now - agoSeconds * 1000 - 1,
  finishedAt: now - agoSeconds * 1000,
  reason: exitCode === 0 ? 'Completed' : 'Error',
})

const trouble = (over: Partial<FailedStep>): FailedStep => ({
  code: 'RegistryErrorResponse',
  message: 'm',
  retry: 'later',
  step: `pull ${image}`,
  generation: 1,
  count: 1,
  firstAt: now - 1000,
  at: now - 1000,
  ...over,
})

function short(next: GroupNext): string {
  if (next.kind === 'step') return `${next.step.step.kind}${next.state ? ` ${next.state}` : ''}`
  if (next.kind === 'wait') return `wait ${next.seconds}`
  return next.kind === 'fail' ? `fail ${next.code}` : 'done'
}

const group = model()
const stopped: ContainerGroup = { ...group, intent: 'stopped' }
const never = model({ restartPolicy: 'Never' })
const missing: Seen = { ...nothing, imagesMissing: [image] }
const record = (over: Partial<ContainerRecord>): ContainerRecord => ({
  hash: hashOf(group),
  state: running,
  restartCount: 0,
  events: [],
  ...over,
})

const table: readonly (readonly [
  what: string,
  desired: ContainerGroup | undefined,
  state: string,
  observed: Observed,
  expected: string,
])[] = [
  ['nothing there, image missing', group, 'Pending', observed(missing), 'pull Creating'],
  ['nothing there, image present', group, 'Creating', observed(nothing), 'create'],
  ['made', group, 'Creating', observed(up(group, { kind: 'created' })), 'start'],
  ['running', group, 'Creating', observed(up(group, running)), 'done'],
  ['restarting', group, 'Succeeded', observed(up(group, { kind: 'waiting', reason: 'r' })), 'done'],
  ['another hash', group, 'Updating', observed(up(never, running)), 'stop'],
  ['another hash, ended', group, 'Updating', observed(up(never, ended(0, 1))), 'remove'],
  [
    'sandbox gone',
    group,
    'Succeeded',
    observed({ ...up(group, ended(1, 9)), sandbox: 'down' }),
    'remove',
  ],
  [
    'ended just now: the engine restarts it',
    group,
    'Succeeded',
    observed(up(group, ended(1, 1))),
    'wait 30',
  ],
  [
    'ended, given up by the engine',
    group,
    'Succeeded',
    observed(up(group, ended(1, 40))),
    'restart',
  ],
  ['stop', stopped, 'Updating', observed(up(group, running)), 'stop'],
  [
    'stopped',
    stopped,
    'Updating',
    observed({ ...up(group, ended(0, 1)), sandbox: 'down' }),
    'done',
  ],
  ['delete', undefined, 'Deleting', observed(up(group, running)), 'remove'],
  ['deleted', undefined, 'Deleting', observed(nothing), 'done'],
  ['failed: left as it is', group, 'Failed', observed(nothing), 'wait 600'],
  ['failed: deleted all the same', undefined, 'Deleting', observed(up(group, running)), 'remove'],
  [
    'ended for good and forgotten',
    never,
    'Succeeded',
    observed(nothing, { finished: hashOf(never) }),
    'done',
  ],
  [
    'ended for good, then changed',
    never,
    'Updating',
    observed(nothing, { finished: 'other' }),
    'create',
  ],
  ['lost with Never', never, 'Succeeded', observed(nothing, { lost: hashOf(never) }), 'done'],
  [
    'a failed liveness probe',
    group,
    'Succeeded',
    observed(up(group, running), { parts: { web: record({ unhealthyRun: now - 5000 }) } }),
    'restart',
  ],
  [
    'a liveness probe that fails soon after each start',
    group,
    'Succeeded',
    observed(up(group, running), {
      parts: { web: record({ unhealthyRun: now - 5000, restartCount: 10 }) },
    }),
    'wait 56',
  ],
  [
    'a liveness probe that failed in an earlier run',
    group,
    'Succeeded',
    observed(up(group, running), { parts: { web: record({ unhealthyRun: 1 }) } }),
    'done',
  ],
  [
    'a failed liveness probe with Never',
    never,
    'Succeeded',
    observed(up(never, running), { parts: { web: record({ unhealthyRun: now - 5000 }) } }),
    'done',
  ],
  [
    'a pull that failed just now',
    group,
    'Creating',
    observed(missing, { trouble: trouble({}) }),
    'wait 1',
  ],
  [
    'a pull that failed a while ago',
    group,
    'Creating',
    observed(missing, { trouble: trouble({ at: now - 2000 }) }),
    'pull',
  ],
  [
    'a pull that fails for ever',
    group,
    'Creating',
    observed(missing, { trouble: trouble({ firstAt: 0 }) }),
    'fail RegistryErrorResponse',
  ],
  [
    'a pull that is no use',
    group,
    'Creating',
    observed(missing, { trouble: trouble({ retry: 'never', code: 'InaccessibleImage' }) }),
    'fail InaccessibleImage',
  ],
  [
    'another step than the one that failed',
    group,
    'Creating',
    observed(nothing, { trouble: trouble({ retry: 'never' }) }),
    'create',
  ],
  [
    'a group taken away because it was made otherwise than asked',
    group,
    'Creating',
    observed(nothing, {
      trouble: trouble({ step: 'start', retry: 'never', code: 'ContainerStartFailed' }),
    }),
    'fail ContainerStartFailed',
  ],
  [
    'a host port that stays taken',
    group,
    'Creating',
    observed(nothing, {
      trouble: trouble({ step: 'create', code: 'ContainerEngineBusy', firstAt: now - 61_000 }),
    }),
    'fail ContainerEngineBusy',
  ],
  [
    'Windows',
    model({ osType: 'Windows' }),
    'Pending',
    observed(nothing),
    'fail OsVersionNotSupported',
  ],
  [
    'no image anywhere',
    model({ standbyPoolProfile: { id: '/p' } }, [{ name: 'web' }]),
    'Pending',
    observed(nothing),
    'fail ImageNotSpecified',
  ],
  [
    'a share without a folder for shares',
    model({ volumes: [{ name: 'v', azureFile: { shareName: 's', storageAccountName: 'a' } }] }),
    'Pending',
    observed(nothing),
    'fail FileShareNotAvailable',
  ],
  [
    'a repository without git',
    model({ volumes: [{ name: 'v', gitRepo: { repository: 'https://g.example/r' } }] }),
    'Pending',
    observed(nothing),
    'fail GitRepositoryNotAvailable',
  ],
]

describe('next', () => {
  for (const [what, desired, state, seen, expected] of table) {
    test(`${what}: ${expected}`, () => {
      assert.equal(short(nextGroupStep({ desired, state, now }, seen, engine, around)), expected)
    })
  }

  test('a share needs no folder where nothing runs', () => {
    const volumes = [{ name: 'v', azureFile: { shareName: 's', storageAccountName: 'a' } }]
    const desired = model({ volumes })
    const simulated = { ...engine, runsPrograms: false }
    const next = nextGroupStep(
      { desired, state: 'Pending', now },
      observed(nothing),
      simulated,
      around,
    )
    assert.doesNotMatch(short(next), /^fail/)
  })

  test('done forgets the failed step on the way', () => {
    const next = nextGroupStep(
      { desired: group, state: 'Creating', now },
      observed(up(group, running), { trouble: trouble({}) }),
      engine,
      around,
    )
    assert.ok(next.kind === 'done')
    assert.equal(next.observed?.trouble, undefined)
  })
})

test('why nothing was tried stands in the events of the group', () => {
  for (const [model_, name] of [
    [model({ osType: 'Windows' }), 'Failed'],
    [
      model({ volumes: [{ name: 'v', azureFile: { shareName: 's', storageAccountName: 'a' } }] }),
      'FailedMount',
    ],
  ] as const) {
    const next = nextGroupStep(
      { desired: model_, state: 'Pending', now },
      observed(nothing),
      engine,
      around,
    )
    assert.ok(next.kind === 'fail')
    assert.deepEqual(
      next.observed?.events.map((one) => [one.name, one.message, one.type]),
      [[name, next.message, 'Warning']],
    )
  }
})
