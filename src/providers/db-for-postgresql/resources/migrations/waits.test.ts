/** A wrong answer to a wait ends nothing: the next PATCH may bring the right one. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import {
  isSettled,
  openMigrationFixture,
  statusOf,
  target,
  waitsFor,
} from '../../testing/fixture.ts'

for (const migrationOption of ['Migrate', 'ValidateAndMigrate']) {
  test(`what is wrong in a PATCH to a waiting migration is mended by another one: ${migrationOption}`, async (t) => {
    if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
    await using w = await openMigrationFixture()
    await w.register()
    await w.make('patient')
    await w.put('patient', [], { migrationOption, startDataMigration: 'False' })
    await w.until('patient', waitsFor('WaitingForDBsToMigrateSpecification'))
    const passwords = (sourceServerPassword: string) => ({
      adminCredentials: { sourceServerPassword, targetServerPassword: w.target.password },
    })
    await w.patch('patient', {
      dbsToMigrate: ['patient'],
      secretParameters: passwords('wrong'),
    })
    const early = await w.until('patient', ({ error }) => error !== undefined)
    assert.deepEqual(
      [early.state, early.subState],
      ['WaitingForUserAction', 'WaitingForDBsToMigrateSpecification'],
    )
    assert.match(early.error ?? '', /603100/)
    await w.patch('patient', { secretParameters: passwords(w.source.password) })
    const scheduled = await w.until('patient', waitsFor('WaitingForDataMigrationScheduling'))
    assert.equal(scheduled.error, undefined)
    for (const [wrong, text] of [
      [{ secretParameters: passwords('wrong') }, /603100/],
      [
        {
          sourceDbServerFullyQualifiedDomainName: 'no-such-host.invalid',
          secretParameters: passwords(w.source.password),
        },
        /603000/,
      ],
    ] as const) {
      await w.patch('patient', wrong)
      const held = await w.until('patient', ({ error }) => text.test(error ?? ''))
      assert.equal(held.state, 'WaitingForUserAction')
      assert.equal(held.subState, 'WaitingForDataMigrationScheduling')
    }
    await w.patch('patient', {
      sourceDbServerFullyQualifiedDomainName: null,
      startDataMigration: 'True',
      secretParameters: passwords(w.source.password),
    })
    const done = await w.until('patient', isSettled)
    assert.equal(done.state, 'Succeeded', done.error)
    const shown = await w.call('GET', `${target}/migrations/patient`)
    assert.equal(shown.body.properties.sourceDbServerFullyQualifiedDomainName, undefined)
    assert.equal(statusOf(shown).error, undefined)
  })
}
