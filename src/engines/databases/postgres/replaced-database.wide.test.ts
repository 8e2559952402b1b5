/**
 * The database that was at the target under the same name stays until the new one is complete, and after a failure.
 */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { someOf } from '../../../../tests/long.ts'
import { isEnded, type MigrationFixture, only, startReplicating } from '../testing/fixture.ts'
import { migrationTests } from '../testing/migration-tests.ts'
import { keptName } from './names.ts'

const keyed = `CREATE TABLE note (id int PRIMARY KEY, t text);
  INSERT INTO note SELECT g, 'n' || g FROM generate_series(1, 200) g`
/** Such an index cannot be restored: the function finds its table only by a search path. */
const notRestorable = `CREATE FUNCTION looked_up(int) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT count(*) + $1 FROM note';
  CREATE TABLE other (id int); INSERT INTO other VALUES (1); CREATE INDEX looks ON other (looked_up(id))`

describe('a database of the target that is replaced', () => {
  const check = migrationTests(15, 18)
  const prepare = async (fixture: MigrationFixture, database: string, more: string[] = []) => {
    await fixture.make(database, [keyed, ...more])
    await fixture.make(database, ['CREATE TABLE theirs (a int)'], 'target')
  }
  const relations = async (fixture: MigrationFixture, database: string) => {
    await using target = await fixture.session('target', database)
    return await target.value(
      "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
    )
  }

  check('is back when the new one cannot be completed', async (fixture, engine) => {
    await prepare(fixture, 'brittle', [notRestorable])
    // Its application stays connected, and delays nothing.
    await using application = await fixture.session('target', 'brittle')
    const spec = fixture.spec(['brittle'], { overwrite: true })
    await engine.run('brittle', spec, fixture.credentials)
    const ended = only(await fixture.until(engine, 'brittle', isEnded))
    assert.equal(ended.phase, 'failed')
    assert.match(
      ended.message,
      /"note" does not exist.*The database that was at the target before is back\.$/s,
    )
    assert.notEqual(application.lost(), undefined)
    assert.equal(await relations(fixture, 'brittle'), 'theirs')
    assert.deepEqual(await engine.traces('brittle', spec, fixture.credentials), [])
  })

  check('is kept while changes flow, and back when that is called off', async (fixture, engine) => {
    await prepare(fixture, 'waited')
    const spec = fixture.spec(['waited'], { mode: 'online', overwrite: true })
    await startReplicating(fixture, engine, 'waited', spec)
    assert.equal(await relations(fixture, 'waited'), 'note')
    await using server = await fixture.session('target', 'postgres')
    assert.equal(
      await server.value('SELECT datallowconn FROM pg_database WHERE datname = $1', [
        keptName('waited', 0),
      ]),
      'false',
    )
    await engine.cancel('waited', ['waited'])
    const ended = only(await fixture.until(engine, 'waited', isEnded))
    assert.equal(ended.phase, 'canceled')
    assert.match(
      ended.message,
      /was dropped\. The database that was at the target before is back\.$/,
    )
    assert.equal(await relations(fixture, 'waited'), 'theirs')
    assert.deepEqual(await engine.traces('waited', spec, fixture.credentials), [])
  })

  for (const boundary of someOf(['shut', 'kept'] as const, 2, 1)) {
    check(`is there whatever comes of a worker killed when it is ${boundary}`, async (fixture) => {
      await prepare(fixture, boundary)
      const spec = fixture.spec([boundary], { overwrite: true })
      for (const [migration, isCanceled] of [
        [`${boundary}1`, true],
        [`${boundary}2`, false],
      ] as const) {
        await using killed = fixture.open(boundary)
        await killed.run(migration, spec, fixture.credentials)
        await fixture.until(killed, migration, ({ worker }) => worker === 'lost')
        await using engine = fixture.open()
        if (isCanceled) await engine.cancel(migration, [boundary])
        await engine.run(migration, spec, fixture.credentials)
        const ended = only(await fixture.until(engine, migration, isEnded))
        assert.equal(ended.phase, isCanceled ? 'canceled' : 'succeeded', ended.message)
        assert.equal(await relations(fixture, boundary), isCanceled ? 'theirs' : 'note')
        assert.deepEqual(await engine.traces(migration, spec, fixture.credentials), [])
      }
    })
  }

  check('stays under its other name where it cannot be dropped', async (fixture, engine) => {
    await prepare(fixture, 'clung')
    await using server = await fixture.session('target', 'postgres')
    const spec = fixture.spec(['clung'], { mode: 'online', overwrite: true })
    await startReplicating(fixture, engine, 'clung', spec)
    await server.run(`ALTER DATABASE ${keptName('clung', 0)} IS_TEMPLATE true`)
    await engine.cutover('clung', ['clung'])
    const ended = only(await fixture.until(engine, 'clung', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.match(
      ended.message,
      /could not be dropped and is called mig_clung_0_kept now: .*template/,
    )
    assert.equal(await relations(fixture, 'clung'), 'note')
  })
})
