/** The state machine under any input: its order of states, what it never does by itself, and that it ends. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  DatabasePhase,
  MigrationSpec,
  ObservedDatabase,
  ObservedMigration,
} from '#engines/databases/engine.ts'
import { fc, runsOf } from '../../../../tests/property.ts'
import type { Migration, Progress } from '../resources/migrations/model.ts'
import { noRequestedActions, type Orders, ordersFor, requestedAfter } from './requested-actions.ts'
import { advance, nextObservation, type Observation } from './state-machine.ts'

const names = ['a', 'b', 'c'] as const
const flag = fc.constantFrom('True' as const, 'False' as const, undefined)
const list = fc.option(fc.subarray([...names]), { nil: undefined })

const orders: fc.Arbitrary<Orders> = fc
  .record({ triggerCutover: flag, cancel: flag, cutoverOn: list, cancelOn: list })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))

const model: fc.Arbitrary<Migration> = fc
  .record({
    mode: fc.constantFrom('Offline' as const, 'Online' as const),
    option: fc.constantFrom('Validate' as const, 'Migrate' as const, 'ValidateAndMigrate' as const),
    databases: fc.subarray([...names]),
    overwrite: fc.constantFrom('True' as const, 'False' as const),
    setUpReplication: fc.constantFrom('True' as const, 'False' as const),
    startDataMigration: fc.constantFrom('True' as const, 'False' as const),
    given: fc.array(orders, { maxLength: 3 }),
  })
  .map(({ given, ...rest }) => ({
    ...rest,
    place: '/x',
    migrationId: '0',
    sourceType: 'OnPremises' as const,
    sslMode: 'Prefer' as const,
    sourceId: 'h:1@u',
    asked: given.reduce((asked, one) => requestedAfter(asked, one), noRequestedActions),
  }))

const specOf = ({ databases = [], asked, mode }: Migration): MigrationSpec => {
  const address = { host: 'h', port: 1, user: 'u', sslMode: 'prefer' as const }
  const { cancel } = ordersFor(asked, databases)
  return {
    mode: mode === 'Online' ? 'online' : 'offline',
    source: address,
    target: address,
    databases: databases.filter((name) => !cancel.includes(name)),
    overwrite: false,
    roles: false,
    setUpReplication: false,
    fence: 'cutover',
    verify: 'none',
    analyze: false,
    tablesAtOnce: 1,
    databasesAtOnce: 1,
  }
}

const metadata = { location: '', sku: {}, storageMb: 1, version: '15' }

const phase: fc.Arbitrary<DatabasePhase> = fc.constantFrom(
  'queued',
  'preparing',
  'copying',
  'finishing',
  'replicating',
  'cutting-over',
  'canceling',
  'cleaning-up',
  'succeeded',
  'failed',
  'canceled',
)

function observedDatabase(name: string, at: DatabasePhase): ObservedDatabase {
  return {
    name,
    phase: at,
    attempt: 1,
    startedAt: 1,
    endedAt: undefined,
    message: '',
    warning: '',
    number: undefined,
    counters: {
      fullLoadQueuedTables: 0,
      fullLoadLoadingTables: 0,
      fullLoadCompletedTables: 2 ** 40,
      fullLoadErroredTables: 0,
      incomingChanges: 2 ** 50,
      appliedChanges: 1,
      cdcInsertCounter: 1,
      cdcUpdateCounter: 0,
      cdcDeleteCounter: 0,
      latencySeconds: 0.4,
    },
    bytesTotal: 1,
    bytesCopied: 1,
    bytesPerSecond: 1,
    tables: [],
    bytesBehind: undefined,
    walHeldBytes: undefined,
    pauseMilliseconds: undefined,
    verified: undefined,
  }
}

/** Random observations, within what the engine's port promises. */
interface Weather {
  readonly fails: 'no' | 'later' | 'never'
  readonly validation: 'Failed' | 'Succeeded' | 'Warning'
  readonly replication: 'ready' | 'consent-needed' | 'restart-needed'
  readonly taken: readonly string[]
  readonly worker: 'none' | 'running' | 'lost' | 'ended'
  readonly phases: readonly DatabasePhase[]
  /** The worker has written nothing yet. */
  readonly isSilent: boolean
}

const weather: fc.Arbitrary<Weather> = fc.record({
  fails: fc.constantFrom('no', 'no', 'no', 'later', 'never'),
  validation: fc.constantFrom('Failed', 'Succeeded', 'Warning'),
  replication: fc.constantFrom('ready', 'ready', 'consent-needed', 'restart-needed'),
  taken: fc.subarray([...names]),
  worker: fc.constantFrom('none', 'running', 'lost', 'ended'),
  phases: fc.array(phase, { minLength: 3, maxLength: 3 }),
  isSilent: fc.boolean(),
})

const ends: readonly DatabasePhase[] = ['succeeded', 'failed', 'canceled']

function see(migration: Migration, last: Progress | undefined, given: Weather): Observation {
  const look = nextObservation(migration, last)
  if (look === 'nothing') return { kind: 'nothing' }
  if (given.fails !== 'no') {
    return { kind: 'failure', message: 'no', number: 603000, passes: given.fails === 'later' }
  }
  const spec = specOf(migration)
  if (look === 'validation') {
    const report = { state: given.validation, startedAt: 1, endedAt: 2, server: [], databases: [] }
    return { kind: 'validation', report }
  }
  if (look === 'survey') {
    return {
      kind: 'survey',
      spec,
      source: metadata,
      target: metadata,
      survey: {
        missing: [],
        targetDatabases: spec.databases
          .filter((name) => given.taken.includes(name))
          .map((name) => ({ name, made: false })),
        replication:
          given.replication === 'ready'
            ? { kind: 'ready' }
            : { kind: given.replication, reasons: ['x'] },
      },
    }
  }
  const databases = (last?.plan?.databases ?? []).map((name, index) => {
    const at = given.phases[index] ?? 'queued'
    return observedDatabase(name, given.worker === 'ended' && !ends.includes(at) ? 'failed' : at)
  })
  const observed: ObservedMigration = {
    worker: given.worker,
    updatedAt: 1,
    databases:
      given.worker === 'none' || (given.isSilent && given.worker !== 'ended') ? [] : databases,
    asked: { cutover: [], cancel: [] },
    pendingCleanUps: [],
    message: '',
  }
  return { kind: 'worker', observed }
}

const waitingStates = [
  'WaitingForLogicalReplicationSetupRequestOnSourceDB',
  'WaitingForDBsToMigrateSpecification',
  'WaitingForTargetDBOverwriteConfirmation',
  'WaitingForDataMigrationScheduling',
  'WaitingForDataMigrationWindow',
  'WaitingForCutoverTrigger',
]
const endStates = ['Succeeded', 'Failed', 'Canceled', 'ValidationFailed']

test('whatever is seen: states go with their substates, a plan stays, an end is an end', () => {
  fc.assert(
    fc.property(model, fc.array(weather, { minLength: 1, maxLength: 25 }), (migration, days) => {
      let last: Progress | undefined
      let now = 0
      for (const day of days) {
        now += 1000
        const seen = see(migration, last, day)
        const next = advance(migration, last, seen, now)
        if (waitingStates.includes(next.subState)) assert.equal(next.state, 'WaitingForUserAction')
        assert.equal(next.subState === 'Completed', endStates.includes(next.state))
        assert.equal(next.isSettled, endStates.includes(next.state))
        if (last?.isSettled) {
          assert.deepEqual([next.state, next.databases], [last.state, last.databases])
        }
        if (last?.plan !== undefined) assert.deepEqual(next.plan, last.plan)
        if (last?.subState === 'CompletingMigration') {
          assert.notEqual(next.subState, 'MigratingData')
        }
        if (last?.plan === undefined && next.plan !== undefined) {
          // Nothing begins without the consents that the survey requires.
          assert.ok(seen.kind === 'survey')
          assert.equal(seen.survey.replication.kind, 'ready')
          const taken = seen.survey.targetDatabases.length > 0
          assert.ok(!taken || migration.overwrite === 'True')
          assert.equal(migration.startDataMigration, 'True')
          assert.notEqual(migration.option, 'Validate')
          if (migration.option === 'ValidateAndMigrate') {
            assert.notEqual(next.validation?.report.state, 'Failed')
            assert.ok(next.validation !== undefined)
          }
        }
        if (next.state === 'CleaningUp') {
          const shown = next.databases.map(({ migrationState }) => migrationState)
          assert.ok(
            shown.every((one) => ['Succeeded', 'Failed', 'Canceled', 'Canceling'].includes(one)),
          )
        }
        if (next.todo?.kind === 'run') assert.ok(next.plan !== undefined)
        if (next.todo?.kind === 'forget') assert.ok(next.isSettled)
        for (const one of next.databases) {
          assert.ok(
            one.incomingChanges <= 2 ** 31 - 1 && one.fullLoadCompletedTables <= 2 ** 31 - 1,
          )
        }
        // An unchanged model gets the same decision.
        assert.deepEqual(JSON.parse(JSON.stringify(next)), next, 'it can be written down')
        last = next
      }
    }),
    { numRuns: runsOf(2000) },
  )
})

test('in fair weather it comes to its end, and what was called off is called off', () => {
  fc.assert(
    fc.property(model, fc.boolean(), (migration, calledOff) => {
      const asked = calledOff ? { ...migration.asked, cancel: 'all' as const } : migration.asked
      const wanted: Migration = {
        ...migration,
        asked,
        databases: ['a', 'b'],
        startDataMigration: 'True',
      }
      let last: Progress | undefined
      for (let looks = 0; looks < 20 && last?.isForgotten !== true; looks++) {
        last = advance(wanted, last, see(wanted, last, fair(last)), looks * 1000)
      }
      assert.equal(last?.isForgotten, true, JSON.stringify(last))
      const remaining = specOf(wanted).databases
      const state = remaining.length === 0 ? 'Canceled' : 'Succeeded'
      assert.equal(last?.state, state)
    }),
  )
})

function fair(last: Progress | undefined): Weather {
  return {
    fails: 'no',
    validation: 'Succeeded',
    replication: 'ready',
    taken: [],
    worker: last?.todo?.kind === 'run' ? 'ended' : 'none',
    phases: ['succeeded', 'succeeded', 'succeeded'],
    isSilent: false,
  }
}

test('orders only grow, cancel wins, and a body acts on what it names alone', () => {
  fc.assert(
    fc.property(fc.array(orders, { maxLength: 5 }), (bodies) => {
      let asked = noRequestedActions
      for (const given of bodies) {
        const next = requestedAfter(asked, given)
        const [old, now] = [ordersFor(asked, names), ordersFor(next, names)]
        for (const name of old.cancel) assert.ok(now.cancel.includes(name))
        for (const name of now.cutover) assert.ok(!now.cancel.includes(name))
        const flags = [given.triggerCutover, given.cancel]
        if (!flags.includes('True')) {
          assert.deepEqual(next, asked, 'names without a flag change nothing')
        }
        const named = given.cutoverOn ?? []
        const cutsAll = named.length === 0 && (given.cancelOn ?? []).length === 0
        const isNew = (name: (typeof names)[number]): boolean =>
          now.cutover.includes(name) && !old.cutover.includes(name)
        for (const name of names.filter(isNew)) {
          assert.equal(given.triggerCutover, 'True')
          assert.ok(cutsAll || named.includes(name), `${name} was not named`)
        }
        if (given.cancel === 'True' && (given.cancelOn ?? []).length === 0) {
          assert.deepEqual(now.cancel, [...names])
        }
        if (flags.includes('True')) {
          for (const name of given.cancelOn ?? []) assert.ok(now.cancel.includes(name))
        }
        asked = next
      }
    }),
    { numRuns: runsOf(2000) },
  )
})

test('whoever is asked for a password has all the time there is, and may call it off', () => {
  const asked: Migration = {
    ...{ place: '/x', migrationId: '0', sourceType: 'OnPremises', sslMode: 'Prefer' },
    ...{ mode: 'Offline', option: 'Migrate', sourceId: 'h:1@u', databases: ['a'] },
    asked: noRequestedActions,
  }
  const seen: Observation = {
    ...{ kind: 'failure', message: 'give it again', number: undefined },
    ...{ passes: true, waitsForUser: true },
  }
  const day = 86_400_000
  const early = advance(asked, undefined, seen, 0)
  const planned: Progress = { ...early, subState: 'MigratingData', plan: specOf(asked) }
  for (const first of [early, planned]) {
    const second = advance(asked, advance(asked, first, seen, day), seen, 9 * day)
    assert.equal(second.isSettled, false)
    assert.equal(second.error, 'give it again')
    assert.notEqual(second.lookInSeconds, undefined)
    const off = advance({ ...asked, asked: { cutover: [], cancel: 'all' } }, second, seen, 9 * day)
    assert.equal(off.state, 'Canceled')
  }
})
