/** Two replicas look at a server in turn: what one signaled, the other ends. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatabaseEngine, ServerFacts } from '#engines/databases/engine.ts'
import { DatabaseEngineError } from '#engines/databases/engine.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import type { Subject } from '#plane/declare/reconciled.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { realClock, realIds, testSeal } from '#plane/testing/provider-context.ts'
import { healthSignals } from '../../../resource-health/provider.ts'
import { openMigrationStore, target } from '../../testing/fixture.ts'
import { sealServerPassword } from './model.ts'
import { serverReconciler } from './reconcile.ts'

test('an event ends when the server answers, whichever replica looks', async () => {
  await using store = await openMigrationStore()
  const signals = healthSignals({ sql: store.sql, clock: realClock, ids: realIds })
  const id = parseResourceId(target)
  assert.ok(id)
  let answers = true
  let ends = false
  // Replace a server that is suspended, and a migration to it: the wide tests have real ones.
  const engine = {
    async inspect(): Promise<ServerFacts> {
      if (ends) throw new DatabaseEngineError('ended', 'The control plane ends.')
      if (!answers) throw new DatabaseEngineError('unavailable', 'it does not answer')
      return { version: '15.1', major: 15, dataBytes: 1 } as ServerFacts
    },
  } as unknown as DatabaseEngine
  const reader = {
    async *each() {
      yield { id, model: {} }
    },
  } as unknown as Reader
  const sealedPassword = sealServerPassword(testSeal, 'here', 'secret')
  const replica = () => {
    const reconciler = serverReconciler({ engine, seal: testSeal, signals, reader })
    return async (): Promise<number> => {
      const desired = {
        host: 'db.example',
        port: 5432,
        login: 'l',
        sslMode: 'Prefer',
        place: 'here',
        sealedPassword,
      }
      const subject = { id, desired, state: 'Succeeded' } as unknown as Subject<never, unknown>
      for (;;) {
        const next = reconciler.next(subject, await reconciler.observe(subject))
        if (next.kind !== 'step') break
        await reconciler.perform(subject, next.step)
      }
      return (await store.sql.all('select signal from health_signals')).length
    }
  }
  const [first, second] = [replica(), replica()]
  assert.equal(await second(), 0)
  // The process ends, and nothing is known of the server.
  ends = true
  await assert.rejects(first(), { name: 'StepFailure', retry: 'later' })
  ends = false
  assert.equal(await second(), 0)
  answers = false
  assert.equal(await first(), 1)
  answers = true
  assert.equal(await second(), 0)
  answers = false
  assert.equal(await first(), 1)
})
