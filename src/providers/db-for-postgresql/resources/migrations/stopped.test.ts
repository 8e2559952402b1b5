/** A control plane that stops while migrations are under way. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DatabaseEngine, DatabaseEngineError } from '#engines/databases/engine.ts'
import { ask } from '#plane/testing/ask.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import { owner } from '#plane/testing/start.ts'
import { until } from '../../../../../tests/until.ts'
import type { MigrationSettings } from '../../dependencies.ts'
import {
  createMigrationPlane,
  openMigrationStore,
  type Status,
  statusOf,
  target,
} from '../../testing/fixture.ts'
import { migrationReconciler } from './reconcile.ts'

test('a stop in the middle of a validation says nothing of its servers', async () => {
  await using store = await openMigrationStore()
  let later = 0
  const clock = { now: () => realClock.now() + later }
  const run = (means: Pick<DatabaseEngine, 'place' | 'validate'>) => {
    // Replaces servers, which are away and come back, and a process that ends in the middle.
    const engine = {
      inspect: async () => ({ version: '15.1', major: 15, dataBytes: 1 }),
      ...means,
    } as unknown as DatabaseEngine
    const settings: MigrationSettings = {
      fence: 'cutover',
      verify: 'counts',
      ...{ atOnceMax: 32, tablesAtOnce: 2, databasesAtOnce: 2 },
      ...{ serverAddresses: new Map(), sourcesFromTargets: new Map() },
    }
    const plane = createMigrationPlane({ store, engine, settings, allows: () => true, clock })
    plane.start()
    const call = async (method: 'GET' | 'PUT', path: string, properties?: object) => {
      const sent = properties && { location: 'here', properties }
      const { status, body } = await ask(plane, method, path, sent, {
        as: owner,
        version: '2025-08-01',
      })
      return { status, body: JSON.parse(JSON.stringify(body ?? {})) }
    }
    const look = async (): Promise<Status> => statusOf(await call('GET', `${target}/migrations/m`))
    return { plane, call, look }
  }
  let ended = 0
  const end = async (): Promise<never> => {
    ended++
    throw new DatabaseEngineError('ended', 'The control plane ends.', { number: 603000 })
  }
  {
    const before = run({ place: async () => 'here', validate: end })
    await using _ = before.plane
    await before.call('PUT', target, {
      fullyQualifiedDomainName: 'target.example',
      administratorLogin: 'l',
      administratorLoginPassword: 'secret',
    })
    await until(async () => {
      const { body } = await before.call('GET', target)
      return body.properties.provisioningState === 'Succeeded'
    })
    await before.call('PUT', `${target}/migrations/m`, {
      sourceType: 'OnPremises',
      sourceDbServerResourceId: '127.0.0.1:5432@postgres',
      migrationOption: 'Validate',
      dbsToMigrate: ['d'],
      secretParameters: {
        adminCredentials: { sourceServerPassword: 's', targetServerPassword: 't' },
      },
    })
    await until(() => ended > 0)
  }
  later = 120_000
  const after = run({
    place: async () => 'here',
    async validate() {
      throw new DatabaseEngineError('unavailable', 'It starts.', { number: 603000 })
    },
  })
  await using _ = after.plane
  await until(async () => (await after.look()).error?.includes('It starts') === true)
  assert.equal((await after.look()).state, 'InProgress')
})

test('looks of a process that ends are those of the next one', async () => {
  const engine = {
    async place() {
      throw new DatabaseEngineError('ended', 'The control plane ends.')
    },
  } as unknown as DatabaseEngine
  const reconciler = migrationReconciler({ engine } as Parameters<typeof migrationReconciler>[0])
  const subject = { token: 't', model: {}, now: 0 } as Parameters<typeof reconciler.observe>[0]
  await assert.rejects(reconciler.observe(subject), { name: 'StepFailure', retry: 'later' })
})
