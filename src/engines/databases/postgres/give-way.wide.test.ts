/**
 * An application that alters its database during the copy: it never waits long for the migration, and its changes
 * are at the target in the end.
 */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { requireOrSkip } from '../../../../tests/require.ts'
import { fingerprint } from '../testing/fingerprint.ts'
import {
  inPhase,
  isEnded,
  type MigrationFixture,
  only,
  openMigrationFixture,
} from '../testing/fixture.ts'
import { startLoad } from '../testing/load.ts'
import { findServer, howToGetServers } from '../testing/servers.ts'

/** At the target every row of `slow…` takes a while, so that its copy is still running when the test gets there. */
const slowTables = (sourcePort: number): string => `
  CREATE FUNCTION slowly(a bigint) RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN IF inet_server_port() <> ${sourcePort} THEN PERFORM pg_sleep(0.004); END IF; RETURN true; END $$;
  CREATE TABLE slow_emptied (a int PRIMARY KEY CHECK (public.slowly(a)), t text);
  CREATE TABLE slow_altered (LIKE slow_emptied INCLUDING ALL);
  CREATE TABLE slow_dropped (LIKE slow_emptied INCLUDING ALL);
  CREATE TABLE slow_rewritten (LIKE slow_emptied INCLUDING ALL);
  INSERT INTO slow_emptied SELECT g, repeat('x', 9000) || g FROM generate_series(1, 1200) g;
  INSERT INTO slow_altered SELECT * FROM slow_emptied;
  INSERT INTO slow_dropped SELECT * FROM slow_emptied;
  INSERT INTO slow_rewritten SELECT * FROM slow_emptied;
  CREATE TABLE child (id int PRIMARY KEY, a int REFERENCES slow_altered ON DELETE CASCADE, b int REFERENCES slow_rewritten);
  INSERT INTO child SELECT g, g, g FROM generate_series(1, 500) g;
  CREATE TABLE emptied (a int PRIMARY KEY); INSERT INTO emptied SELECT generate_series(1, 1000);
  CREATE TABLE note (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, t text)`

/** Typical statements of a release and of nightly jobs. */
const alterations: readonly string[] = [
  "TRUNCATE public.slow_emptied; INSERT INTO public.slow_emptied VALUES (1, 'after'), (2, 'after')",
  'ALTER TABLE public.slow_altered ADD COLUMN more int DEFAULT 7, ADD CONSTRAINT more_is_small CHECK (more < 1000)',
  "UPDATE public.slow_altered SET more = a WHERE a < 100; INSERT INTO public.slow_altered VALUES (5000, 'late', 8)",
  'DELETE FROM public.slow_altered WHERE a = 3',
  'ALTER TABLE public.slow_rewritten ALTER t TYPE varchar(20000), ALTER a TYPE bigint',
  'DROP TABLE public.slow_dropped',
  'TRUNCATE public.emptied; INSERT INTO public.emptied VALUES (3)',
  'CREATE TABLE public.late (id serial PRIMARY KEY, t text); INSERT INTO public.late (t) VALUES (1), (2)',
  'CREATE INDEX late_by_t ON public.late (t)',
]

const writes: readonly string[] = [
  "INSERT INTO public.note (t) VALUES ('w')",
  "UPDATE public.note SET t = t || '+' WHERE id % 7 = 1",
  'DELETE FROM public.note WHERE id % 11 = 1',
  "UPDATE public.slow_altered SET t = 'updated' WHERE a = 1 + (random() * 1000)::int",
  'INSERT INTO public.emptied VALUES (10 + (random() * 1000000)::int) ON CONFLICT DO NOTHING',
]

describe('a copy beside an application that alters things', () => {
  let opened: MigrationFixture | undefined
  before(async () => {
    if (findServer(15) === undefined || findServer(18) === undefined) return
    opened = await openMigrationFixture(15, 18)
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
  })

  test('TRUNCATE, ALTER and DROP come through, and the copy has what they did', async (t) => {
    if (!requireOrSkip(t, opened !== undefined, howToGetServers) || opened === undefined) return
    const fixture = opened
    await using engine = fixture.open()
    await fixture.make('busy', [slowTables(fixture.source.address.port)])
    const spec = fixture.spec(['busy'], { mode: 'online', tablesAtOnce: 4 })
    const load = startLoad(fixture.source, 'busy', {
      perSecond: 100,
      statements: writes,
      endsWhenShutOut: true,
    })
    try {
      await using application = await fixture.session('source', 'busy')
      await engine.run('busy', spec, fixture.credentials)
      await fixture.until(
        engine,
        'busy',
        (seen) => isEnded(seen) || (seen.databases[0]?.counters.fullLoadLoadingTables ?? 0) > 3,
      )
      // A session that would wait longer fails.
      await application.run("SET lock_timeout = '2s'")
      for (const statement of alterations) await application.run(statement)
      assert.equal(only(await engine.observe('busy')).phase, 'copying', 'it was under way')
      await fixture.until(engine, 'busy', (seen) => isEnded(seen) || inPhase('replicating')(seen))
      await engine.cutover('busy', ['busy'])
      const ended = only(await fixture.until(engine, 'busy', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
      assert.equal(ended.attempt, 1, 'nothing was started over')
    } finally {
      await load.stop()
    }
    assert.ok(load.committed() > 100)
    const [here, there] = [
      await fingerprint(fixture.source, 'busy'),
      await fingerprint(fixture.target, 'busy'),
    ]
    for (const subject of ['tables', 'columns', 'indexes', 'constraints', 'rows', 'sequences']) {
      assert.deepEqual(there[subject], here[subject], subject)
    }
    assert.deepEqual(await engine.traces('busy', spec, fixture.credentials), [])
  })

  test('offline, a table that was emptied is copied as it is then', async (t) => {
    if (!requireOrSkip(t, opened !== undefined, howToGetServers) || opened === undefined) return
    const fixture = opened
    await using engine = fixture.open()
    await fixture.make('quiet', [slowTables(fixture.source.address.port)])
    await using application = await fixture.session('source', 'quiet')
    await engine.run('quiet', fixture.spec(['quiet'], { tablesAtOnce: 4 }), fixture.credentials)
    await fixture.until(
      engine,
      'quiet',
      (seen) => isEnded(seen) || (seen.databases[0]?.counters.fullLoadLoadingTables ?? 0) > 3,
    )
    await application.run(
      "SET lock_timeout = '2s'; TRUNCATE public.slow_emptied, public.emptied; INSERT INTO public.slow_emptied VALUES (1, 'after')",
    )
    const ended = only(await fixture.until(engine, 'quiet', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.equal(ended.attempt, 1)
    await using target = await fixture.session('target', 'quiet')
    assert.equal(await target.value('SELECT count(*) FROM public.slow_emptied'), '1')
    assert.equal(await target.value('SELECT count(*) FROM public.emptied'), '0')
  })
})
