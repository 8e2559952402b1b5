/**
 * Every property of a PATCH in every state, answered by the contract's list and facts 8.4. The plane is not
 * started; the state is written into the store as the reconciler would. Contacts no server.
 */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createPostgresEngine } from '#engines/databases/postgres/postgres-engine.ts'
import { ApiError } from '#kernel/error.ts'
import { openWay } from '#outbound/testing/ways.ts'
import type { RunningPlane } from '#plane/create-plane.ts'
import { ask } from '#plane/testing/ask.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import { owner } from '#plane/testing/start.ts'
import type { ResourceRow, Store } from '#stores/store.ts'
import { createMigrationPlane, openMigrationStore, target } from '../../testing/fixture.ts'
import type { DatabaseState, MigrationState, SubState } from './model.ts'

const migration = `${target}/migrations/table`

/** The stages of a migration: before the worker, with it, waiting for cutover, at the clean-up, at the end. */
type Stage = 'early' | 'working' | 'cutover' | 'cleaning' | 'ended'
interface Row {
  readonly state: MigrationState
  readonly subState: SubState
  readonly stage: Stage
}

const row = (state: MigrationState, subState: SubState, stage: Stage): Row => ({
  state,
  subState,
  stage,
})
const states: readonly Row[] = [
  row('InProgress', 'PerformingPreRequisiteSteps', 'early'),
  row('InProgress', 'ValidationInProgress', 'early'),
  row('WaitingForUserAction', 'WaitingForLogicalReplicationSetupRequestOnSourceDB', 'early'),
  row('WaitingForUserAction', 'WaitingForDBsToMigrateSpecification', 'early'),
  row('WaitingForUserAction', 'WaitingForTargetDBOverwriteConfirmation', 'early'),
  row('WaitingForUserAction', 'WaitingForDataMigrationScheduling', 'early'),
  row('WaitingForUserAction', 'WaitingForDataMigrationWindow', 'early'),
  row('InProgress', 'MigratingData', 'working'),
  row('InProgress', 'CompletingMigration', 'working'),
  row('InProgress', 'CancelingRequestedDBMigrations', 'working'),
  row('WaitingForUserAction', 'WaitingForCutoverTrigger', 'cutover'),
  row('CleaningUp', 'CompletingMigration', 'cleaning'),
  row('Succeeded', 'Completed', 'ended'),
  row('Failed', 'Completed', 'ended'),
  row('Canceled', 'Completed', 'ended'),
  row('ValidationFailed', 'Completed', 'ended'),
]

const passwords = {
  adminCredentials: { sourceServerPassword: 'hush', targetServerPassword: 'hush' },
}
const late = '2030-01-01T00:00:00Z'

/** `same`: 200 without a change. */
type Answer = 200 | 400 | 409 | 'same'
const always = (answer: Answer): Readonly<Record<Stage, Answer>> => ({
  early: answer,
  working: answer,
  cutover: answer,
  cleaning: answer,
  ended: answer,
})
const open = { ...always(200), ended: 409 } as const
/** What the worker was given cannot change. */
const fixed = { ...always(409), early: 200 } as const

const table: readonly (readonly [object, Readonly<Record<Stage, Answer>>])[] = [
  [{ cancel: 'True' }, { ...always(200), cleaning: 409, ended: 409 }],
  [{ cancel: 'False' }, open],
  [
    { cancel: 'True', dbsToCancelMigrationOn: ['a'] },
    { ...open, cleaning: 409 },
  ],
  [
    { triggerCutover: 'True', dbsToCancelMigrationOn: ['a'] },
    { ...open, cleaning: 409 },
  ],
  [{ dbsToCancelMigrationOn: ['a'] }, always('same')],
  [{ dbsToCancelMigrationOn: ['none'] }, always('same')],
  [{ triggerCutover: 'True' }, { ...always(409), cutover: 200 }],
  [{ triggerCutover: 'False' }, open],
  [
    { triggerCutover: 'True', dbsToTriggerCutoverOn: ['a'] },
    { ...always(409), cutover: 200 },
  ],
  [{ dbsToTriggerCutoverOn: ['a'] }, always('same')],
  [{ cancel: 'False', dbsToTriggerCutoverOn: ['a'] }, open],
  [{ triggerCutover: 'True', dbsToTriggerCutoverOn: ['none'] }, always(400)],
  [{ dbsToMigrate: ['a'] }, fixed],
  [{ dbsToMigrate: null }, fixed],
  [{ migrateRoles: 'True' }, fixed],
  [{ migrateRoles: null }, always('same')],
  [{ migrationMode: 'offline' }, fixed],
  [{ migrationMode: 'online' }, always('same')],
  [{ migrationWindowStartTimeInUtc: late }, fixed],
  [{ migrationWindowStartTimeInUtc: null }, fixed],
  [{ overwriteDbsInTarget: 'True' }, fixed],
  [{ setupLogicalReplicationOnSourceDbIfNeeded: 'True' }, fixed],
  [{ startDataMigration: 'True' }, open],
  [{ startDataMigration: 'False' }, fixed],
  [{ secretParameters: passwords }, always(200)],
  [{ secretParameters: null }, always(400)],
  [{ secretParameters: { adminCredentials: { sourceServerPassword: null } } }, always(400)],
  [{ sourceDbServerFullyQualifiedDomainName: 'other', secretParameters: passwords }, open],
  [{ targetDbServerFullyQualifiedDomainName: 'other', secretParameters: passwords }, open],
  [{ sourceDbServerResourceId: 'other:1@u', secretParameters: passwords }, open],
  [{ sourceDbServerFullyQualifiedDomainName: 'other' }, always(400)],
  [{ sourceDbServerResourceId: null }, always(400)],
  // Not in the contract's list: refused, unless it is unchanged.
  [{ sslMode: 'Require' }, always(400)],
  [{ sslMode: 'Prefer' }, always('same')],
  [{ migrationOption: 'Validate' }, always(400)],
  [{ migrationInstanceResourceId: '/x' }, always(400)],
  [{ migrationWindowEndTimeInUtc: late }, always(400)],
  [{ sourceType: 'AWS' }, always(400)],
  [{ migrationId: 'x' }, always(400)],
  [{ currentStatus: { state: 'Succeeded' } }, always(400)],
  [{ sourceDbServerMetadata: {} }, always(400)],
  [{ targetDbServerMetadata: {} }, always(400)],
  [{ targetDbServerResourceId: '/x' }, always(400)],
  [{ trigerCutover: 'True' }, always(400)],
  [{ secretParameters: { password: 'x' } }, always(400)],
]

describe('PATCH of a migration', () => {
  let store: Store
  let plane: RunningPlane
  const opened = new AsyncDisposableStack()
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'armature-patch-'))
    opened.defer(() => rmSync(folder, { recursive: true, force: true }))
    store = opened.use(await openMigrationStore())
    const engine = opened.use(createPostgresEngine({ clock: realClock, folder, outbound: openWay }))
    const settings = {
      fence: 'cutover',
      verify: 'counts',
      atOnceMax: 8,
      tablesAtOnce: 1,
      databasesAtOnce: 1,
    } as const
    plane = opened.use(createMigrationPlane({ store, engine, settings, allows: () => true }))
    await call('PUT', target, {
      location: 'here',
      properties: {
        fullyQualifiedDomainName: '127.0.0.1',
        administratorLogin: 'u',
        administratorLoginPassword: 'hush',
      },
    })
    await call('PUT', migration, {
      location: 'here',
      properties: {
        sourceType: 'OnPremises',
        sourceDbServerResourceId: 'source.example:1@u',
        migrationMode: 'Online',
        migrationOption: 'Migrate',
        dbsToMigrate: ['a', 'b'],
        migrationWindowStartTimeInUtc: '2029-01-01T00:00:00Z',
        secretParameters: passwords,
      },
    })
  })
  after(() => opened.disposeAsync())

  const call = (method: 'GET' | 'PUT' | 'PATCH', path: string, body?: unknown, ifMatch?: string) =>
    ask(plane, method, path, body, { as: owner, version: '2025-08-01', ifMatch })
  const statusOf = async (work: Promise<{ readonly status: number }>): Promise<number> => {
    const [outcome] = await Promise.allSettled([work])
    if (outcome?.status === 'fulfilled') return outcome.value.status
    if (outcome?.reason instanceof ApiError) return outcome.reason.status
    throw outcome?.reason
  }
  const stored = async (): Promise<ResourceRow> => {
    const found = await store.get(migration.toLowerCase())
    assert.ok(found !== undefined)
    return found
  }
  const put = async (document: string): Promise<void> => {
    const { etag, ...rest } = await stored()
    await store.transact((tx) => tx.update({ ...rest, etag, document }, etag))
  }

  for (const { state, subState, stage } of states) {
    test(`in ${state}, ${subState}`, async () => {
      const before = (await stored()).document
      const databases = ['a', 'b'].map(
        (databaseName): Partial<DatabaseState> => ({
          databaseName,
          migrationState:
            stage === 'cutover'
              ? 'WaitingForCutoverTrigger'
              : stage === 'ended' || stage === 'cleaning'
                ? 'Succeeded'
                : 'InProgress',
        }),
      )
      const document = JSON.parse(before)
      document.observed = {
        state,
        subState,
        databases,
        isSettled: stage === 'ended',
        isForgotten: false,
        ...(stage === 'early' ? {} : { plan: { databases: ['a', 'b'] } }),
      }
      for (const [properties, answers] of table) {
        await put(JSON.stringify(document))
        const shown = JSON.stringify((await call('GET', migration)).body)
        const wanted = answers[stage]
        const text = JSON.stringify(properties)
        const status = await statusOf(call('PATCH', migration, { properties }))
        assert.equal(status, wanted === 'same' ? 200 : wanted, text)
        if (wanted === 200) continue
        assert.equal(JSON.stringify((await call('GET', migration)).body), shown, text)
      }
      for (const [body, wanted] of [
        [{ tags: { at: subState } }, 200],
        [{ location: 'elsewhere' }, 400],
        [{ location: 'here', id: migration }, 200],
        [{ property: {} }, 400],
      ] as const) {
        await put(JSON.stringify(document))
        assert.equal(await statusOf(call('PATCH', migration, body)), wanted, JSON.stringify(body))
      }
      await put(before)
    })
  }

  test('flags act on the databases that each names, and lists are shown as they acted', async () => {
    const before = (await stored()).document
    const document = JSON.parse(before)
    const databases = ['a', 'b'].map((databaseName) => ({
      databaseName,
      migrationState: 'WaitingForCutoverTrigger',
    }))
    document.observed = {
      state: 'WaitingForUserAction',
      subState: 'WaitingForCutoverTrigger',
      databases,
      isSettled: false,
      isForgotten: false,
      plan: { databases: ['a', 'b'] },
    }
    const asked = async (...bodies: readonly object[]): Promise<unknown> => {
      await put(JSON.stringify(document))
      for (const properties of bodies) await call('PATCH', migration, { properties })
      return JSON.parse((await stored()).document).model.asked
    }
    const cut = { triggerCutover: 'True', dbsToTriggerCutoverOn: ['a'] }
    const cancel = { cancel: 'True', dbsToCancelMigrationOn: ['b'] }
    assert.deepEqual(await asked({ ...cut, ...cancel }), { cutover: ['a'], cancel: ['b'] })
    assert.deepEqual(await asked({ ...cut, cancel: 'True' }), { cutover: ['a'], cancel: 'all' })
    assert.deepEqual(await asked({ ...cancel, triggerCutover: 'True' }), {
      cutover: [],
      cancel: ['b'],
    })
    const names = { dbsToTriggerCutoverOn: ['a'], dbsToCancelMigrationOn: ['b'] }
    assert.deepEqual(await asked(names), { cutover: [], cancel: [] })
    assert.deepEqual(await asked({ dbsToTriggerCutoverOn: ['a'] }, cancel), {
      cutover: [],
      cancel: ['b'],
    })
    assert.deepEqual(await asked(cut, { triggerCutover: 'True' }), { cutover: 'all', cancel: [] })
    await asked(cancel)
    const again = { triggerCutover: 'True', dbsToTriggerCutoverOn: ['b'] }
    assert.equal(await statusOf(call('PATCH', migration, { properties: again })), 409)
    await asked(cut, { triggerCutover: 'True' })
    // By the flag alone: the earlier names are not shown with it.
    await call('PATCH', migration, { properties: { triggerCutover: null } })
    const { model } = JSON.parse((await stored()).document)
    assert.deepEqual([model.triggerCutover, model.cutoverOn], [undefined, undefined])
    await put(before)
  })

  test('of two writes with one tag one is refused, however they meet', async () => {
    for (let round = 0; round < 20; round++) {
      const { etag } = await call('GET', migration)
      const writes = [0, 1, 2].map((at) =>
        statusOf(call('PATCH', migration, { tags: { at: `${round}.${at}` } }, etag)),
      )
      const same = { startDataMigration: round % 2 === 0 ? 'True' : 'False' }
      const flags = [0, 1].map(() => statusOf(call('PATCH', migration, { properties: same }, etag)))
      const statuses = await Promise.all([...writes, ...flags])
      assert.deepEqual(statuses.toSorted(), [200, 412, 412, 412, 412])
    }
  })
})
