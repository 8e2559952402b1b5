/** Server properties of published clients that this installation does not act on. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import type { View } from '#plane/declare/wire.ts'
import type { FlexibleServer } from '../model.ts'
import { serverVersion } from './2025-08-01.ts'
import { declaredOf, showDeclared, showStorage, writtenStorage } from './declared.ts'

test('what is written comes back, each object completed; what is left out is as it is here', () => {
  const declared = declaredOf({
    administratorLogin: 'kept elsewhere',
    maintenanceWindow: { customWindow: 'Enabled', dayOfWeek: 5 },
    availabilityZone: '2',
  })
  const shown = showDeclared(declared)
  assert.deepEqual(shown['maintenanceWindow'], {
    customWindow: 'Enabled',
    dayOfWeek: 5,
    startHour: 0,
    startMinute: 0,
  })
  assert.equal(shown['availabilityZone'], '2')
  assert.deepEqual(shown['authConfig'], {
    activeDirectoryAuth: 'Disabled',
    passwordAuth: 'Enabled',
  })
  assert.deepEqual(shown['backup'], { backupRetentionDays: 0, geoRedundantBackup: 'Disabled' })
  assert.deepEqual(shown['replica'], { role: 'Primary', capacity: 0 })
  assert.equal(Object.hasOwn(shown, 'administratorLogin'), false)
})

test('what was answered is taken back as it is', () => {
  const shown = showDeclared({ replicationRole: 'AsyncReplica' })
  assert.deepEqual(showDeclared(declaredOf(shown)), shown)
})

test('an answer that comes back does not make the usual size a written one', () => {
  const answer = showStorage(undefined, {})
  assert.deepEqual(writtenStorage(answer), {})
  assert.deepEqual(writtenStorage(answer, {}), {})
  assert.deepEqual(writtenStorage({ ...answer, storageSizeGB: 512 }), { storageSizeGB: 512 })
  // By hand, and the answer to that.
  const written = writtenStorage({ storageSizeGB: 32 })
  assert.deepEqual(written, { storageSizeGB: 32 })
  assert.deepEqual(writtenStorage(answer, written), written)
  const auto = writtenStorage({ storageSizeGB: 64, autoGrow: 'Enabled', tier: 'P4' }, written)
  assert.deepEqual(auto, { storageSizeGB: 64, storage: { autoGrow: 'Enabled' } })
  const high = writtenStorage({ storageSizeGB: 64, tier: 'P30' }, written)
  assert.deepEqual(high, { storageSizeGB: 64, storage: { tier: 'P30' } })
  assert.deepEqual(writtenStorage(showStorage(64, high.storage ?? {}), high), high)
})

test('a version that is not known yet is an empty text, and gives way to what the server says', () => {
  const shape = serverVersion({ seal: {} as never, settings: {} as never })
  const model = { host: 'h', port: 1, login: 'l', sslMode: 'Prefer' } as FlexibleServer
  const shown = (one: FlexibleServer, observed?: unknown): readonly unknown[] => {
    const { properties } = shape.fromModel(one, {
      state: 'Succeeded',
      observed,
      words: contractWords,
    } as View)
    const { version, minorVersion } = properties as Readonly<Record<string, unknown>>
    return [version, minorVersion]
  }
  assert.deepEqual(shown(model), ['', ''])
  assert.deepEqual(shown({ ...model, version: '17' }), ['17', ''])
  assert.deepEqual(shown({ ...model, version: '17' }, { kind: 'ready', version: '16.4' }), [
    '16',
    '4',
  ])
})
