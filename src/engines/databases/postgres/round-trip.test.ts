/**
 * A database of odd things from one version to another, offline, and online while an application writes to it.
 * Every row and the catalogs are compared by the test's own queries.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isLong } from '../../../../tests/long.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { type Fingerprint, fingerprint } from '../testing/fingerprint.ts'
import { inPhase, isEnded, only, openMigrationFixture } from '../testing/fixture.ts'
import { startLoad } from '../testing/load.ts'
import { findServer, howToGetServers, type Major } from '../testing/servers.ts'

/** The servers' own functions print these differently: the text of a view, and defaults of the public schema. */
const differsByVersion: ReadonlySet<string> = new Set(['views'])

function assertAlike(source: Fingerprint, target: Fingerprint, sameVersion: boolean): void {
  for (const [subject, lines] of Object.entries(source)) {
    if (!sameVersion && differsByVersion.has(subject)) {
      assert.equal(target[subject]?.length, lines.length, subject)
    } else {
      assert.deepEqual(target[subject], lines, subject)
    }
  }
}

const pairs: readonly (readonly [Major, Major])[] = [
  ...(isLong
    ? ([
        [15, 15],
        [15, 18],
      ] as const)
    : []),
  [13, 18],
]

describe('odd things come over whole', () => {
  for (const [from, to] of pairs) {
    test(`from ${from} to ${to}, offline and online`, async (t) => {
      const there = [from, to].every((major) => findServer(major) !== undefined)
      if (!requireOrSkip(t, there, howToGetServers)) return
      await using fixture = await openMigrationFixture(from, to)
      await using engine = fixture.open()
      await fixture.makeOdd('odd offline')
      await fixture.makeOdd('odd online')

      await t.test('offline', async () => {
        await engine.run(
          'offline',
          fixture.spec(['odd offline'], { analyze: true }),
          fixture.credentials,
        )
        const ended = await fixture.until(engine, 'offline', isEnded)
        assert.equal(only(ended).phase, 'succeeded', only(ended).message)
        assert.ok((only(ended).verified?.rows ?? 0) > 5_000)
        assertAlike(
          await fingerprint(fixture.source, 'odd offline'),
          await fingerprint(fixture.target, 'odd offline'),
          from === to,
        )
      })

      await t.test('online, with writes going on', async () => {
        const before = await fingerprint(fixture.source, 'odd online')
        const spec = fixture.spec(['odd online'], { mode: 'online' })
        const load = startLoad(fixture.source, 'odd online', {
          perSecond: 150,
          endsWhenShutOut: true,
        })
        try {
          await engine.run('online', spec, fixture.credentials)
          await fixture.until(engine, 'online', inPhase('replicating'))
          const flowing = await fixture.until(
            engine,
            'online',
            (seen) => only(seen).counters.appliedChanges > 200,
          )
          const { counters } = only(flowing)
          assert.equal(
            counters.appliedChanges,
            counters.cdcInsertCounter + counters.cdcUpdateCounter + counters.cdcDeleteCounter,
          )
          assert.ok(counters.cdcInsertCounter > 0 && counters.cdcUpdateCounter > 0)
          assert.ok(counters.incomingChanges >= counters.appliedChanges)
          // Things that replication does not carry change, too.
          await using session = await fixture.session('source', 'odd online')
          await session.run(
            `SELECT lo_put(900003, 0, 'new'), lo_unlink(900004), lo_from_bytea(960000, 'made late')`,
          )
          await engine.cutover('online', ['odd online'])
          const ended = await fixture.until(engine, 'online', isEnded)
          assert.equal(only(ended).phase, 'succeeded', only(ended).message)
        } finally {
          await load.stop()
        }
        assert.ok(load.committed() > 100)
        await using session = await fixture.session('source', 'odd online')
        await session.run(
          'REFRESH MATERIALIZED VIEW public.child_count; REFRESH MATERIALIZED VIEW public.child_total',
        )
        const source = await fingerprint(fixture.source, 'odd online')
        assertAlike(source, await fingerprint(fixture.target, 'odd online'), from === to)
        // The source is unchanged, except for the application's writes.
        assert.deepEqual(source['tables'], before['tables'])
        assert.deepEqual(source['settings'], before['settings'])
        assert.deepEqual(await engine.traces('online', spec, fixture.credentials), [])
      })

      await t.test('roles have come too', async () => {
        const query = `SELECT string_agg(format('%s %s %s %s %s', rolname, rolcanlogin, rolconnlimit, rolvaliduntil, rolpassword), ';' ORDER BY rolname)
          FROM pg_authid WHERE rolname LIKE 'odd%'`
        await using source = await fixture.session('source', 'postgres')
        await using target = await fixture.session('target', 'postgres')
        assert.equal(await target.value(query), await source.value(query))
      })
    })
  }
})
