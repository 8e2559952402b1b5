/** What published clients write of a server that is not this installation's to do. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declaredOf, showDeclared } from './declared.ts'

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
