/** What people and programs hold, send and define at the servers while changes flow: nothing may be lost silently. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWay } from '#outbound/testing/ways.ts'
import { onlyLong, someOf } from '../../../../tests/long.ts'
import type { DatabaseEngine } from '../engine.ts'
import { isEnded, type MigrationFixture, only, startReplicating } from '../testing/fixture.ts'
import { migrationTests } from '../testing/migration-tests.ts'
import { quoteText } from './connect.ts'
import type { DatabaseTask } from './database-task.ts'
import { freshRecord } from './record.ts'
import { StructureWatch } from './structure.ts'
import { lookAtStructure, lookMilliseconds, type StructureCheck } from './structure-look.ts'

const keyed = `CREATE TABLE note (id int PRIMARY KEY, t text);
  INSERT INTO note SELECT g, 'n' || g FROM generate_series(1, 200) g`
const unkeyed = 'CREATE TABLE no_key (a int); INSERT INTO no_key VALUES (1), (2)'

describe('a source in use, whatever it does', () => {
  const hazard = migrationTests(15, 18, { max_prepared_transactions: '5' })
  const variant = onlyLong(hazard)
  const cutOver = async (fixture: MigrationFixture, engine: DatabaseEngine, database: string) => {
    await engine.cutover(database, [database])
    return only(await fixture.until(engine, database, isEnded))
  }

  variant('an open transaction that the slot waits for is named', async (fixture, engine) => {
    await fixture.make('waits', [keyed])
    await using writer = await fixture.session('source', 'waits')
    await writer.run("BEGIN; INSERT INTO public.note VALUES (1000, 'open')")
    const spec = fixture.spec(['waits'], { mode: 'online' })
    await engine.run('waits', spec, fixture.credentials)
    const seen = await fixture.until(engine, 'waits', (one) =>
      /transaction/.test(one.databases[0]?.message ?? ''),
    )
    assert.equal(only(seen).phase, 'preparing')
    await writer.run('COMMIT')
    await fixture.until(engine, 'waits', (one) => only(one).phase === 'replicating')
    const ended = await cutOver(fixture, engine, 'waits')
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.equal(ended.attempt, 1)
  })

  // Covered by `names-and-rights.test.ts`, which cancels at every step.
  variant('called off while the slot waits, it leaves nothing', async (fixture, engine) => {
    await fixture.make('waits2', [keyed])
    await using writer = await fixture.session('source', 'waits2')
    await writer.run("BEGIN; INSERT INTO public.note VALUES (1000, 'open')")
    const spec = fixture.spec(['waits2'], { mode: 'online' })
    await engine.run('waits2', spec, fixture.credentials)
    await fixture.until(engine, 'waits2', (one) =>
      /transaction/.test(one.databases[0]?.message ?? ''),
    )
    await engine.cancel('waits2', ['waits2'], { dropTarget: true })
    assert.equal(only(await fixture.until(engine, 'waits2', isEnded)).phase, 'canceled')
    assert.deepEqual(await engine.traces('waits2', spec, fixture.credentials), [])
    await writer.run('COMMIT')
  })

  hazard('a table in use is waited for without holding others up', async (fixture, engine) => {
    await fixture.make('busy', [keyed, unkeyed])
    await using reader = await fixture.session('source', 'busy')
    await reader.run('BEGIN; SELECT * FROM public.no_key')
    const spec = fixture.spec(['busy'], { mode: 'online' })
    await engine.run('busy', spec, fixture.credentials)
    await fixture.until(engine, 'busy', (one) => /no_key/.test(one.databases[0]?.message ?? ''))
    await using other = await fixture.session('source', 'busy')
    // The lock is released again and again, so that this session gets it.
    await other.run("SET lock_timeout = '15s'; SELECT count(*) FROM public.no_key")
    await reader.run('COMMIT')
    await fixture.until(engine, 'busy', (one) => only(one).phase === 'replicating')
    const ended = await cutOver(fixture, engine, 'busy')
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.equal(ended.attempt, 1)
  })

  hazard('altered structure is reported within ten seconds by the clock', async (fixture) => {
    for (const side of ['source', 'target'] as const)
      await fixture.make('looked', ['CREATE VIEW one AS SELECT 1 AS a'], side)
    await using source = await fixture.session('source', 'looked')
    await using target = await fixture.session('target', 'looked')
    const record = freshRecord('looked', 1)
    let now = 0
    const task: DatabaseTask = {
      migration: 'looked',
      index: 0,
      name: 'looked',
      spec: fixture.spec(['looked'], { mode: 'online' }),
      credentials: { ...fixture.credentials, outbound: openWay },
      programs: { folder: '', version: '', major: 18, memoryBytesMax: 0 },
      clock: { now: () => now },
      folder: fixture.folder,
      record,
      resumed: false,
      signal: new AbortController().signal,
      save: () => undefined,
      cutoverAsked: () => false,
      catchUpsWanted: () => 0,
      onBoundary: () => undefined,
    }
    const structure = new StructureWatch(task)
    const seen: StructureCheck = { at: undefined, differences: [] }
    const look = async (): Promise<string> => {
      now += lookMilliseconds
      record.observed = { ...record.observed, message: '' }
      await lookAtStructure({ task, source, target, structure, seen, isRequested: false })
      return record.observed.message
    }
    for (const [altered, words] of [
      ['CREATE OR REPLACE VIEW public.one AS SELECT 1 AS a, 2 AS b', /one/],
      ['CREATE TABLE public.late (id int)', /late/],
      ['CREATE SEQUENCE public.counted', /counted/],
    ] as const) {
      // Just after a comparison.
      do await look()
      while (seen.at !== now)
      await source.run(altered)
      const since = now
      while (!words.test(await look()))
        assert.ok(now - since < 10_000, `${altered}: ${record.observed.message}`)
      assert.ok(now - since <= 10_000, altered)
    }
  })

  variant(
    'a long reader of the source does not end a cutover that is done',
    async (fixture, engine) => {
      await fixture.make('reader', [keyed, unkeyed])
      const spec = fixture.spec(['reader'], { mode: 'online', fence: 'none' })
      await startReplicating(fixture, engine, 'reader', spec)
      await using reader = await fixture.session('source', 'reader')
      await reader.run('BEGIN; SELECT * FROM public.no_key')
      await engine.cutover('reader', ['reader'])
      const waiting = await fixture.until(
        engine,
        'reader',
        (one) => isEnded(one) || /can be used.*no_key/.test(only(one).message),
      )
      assert.ok((only(waiting).pauseMilliseconds ?? 0) > 0, only(waiting).message)
      await using target = await fixture.session('target', 'reader')
      await target.run("INSERT INTO public.note VALUES (0, 'new')")
      await reader.run('COMMIT')
      const ended = only(await fixture.until(engine, 'reader', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
      const identity = "SELECT relreplident FROM pg_class WHERE relname = 'no_key'"
      assert.equal(await reader.value(identity), 'd')
    },
  )

  // Covered by the long reader, whose table keeps its identity for a while, and by what the source keeps after a cancel.
  variant(
    'an identity that the source keeps fails no cutover that is done',
    async (fixture, engine) => {
      await fixture.make('frozen', [keyed, unkeyed])
      const spec = fixture.spec(['frozen'], { mode: 'online', fence: 'none' })
      await startReplicating(fixture, engine, 'frozen', spec)
      for (const side of ['source', 'target'] as const) {
        await using session = await fixture.session(side, 'frozen')
        await session.run(
          `CREATE FUNCTION public.freeze() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'frozen'; END $$;
         CREATE EVENT TRIGGER frozen ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION public.freeze()`,
        )
      }
      const ended = await cutOver(fixture, engine, 'frozen')
      assert.equal(ended.phase, 'succeeded', ended.message)
      assert.match(
        ended.message,
        /identity of the source's "public"\."no_key" \(.*frozen.*\), which stays FULL/,
      )
    },
  )

  variant(
    'what the source keeps after a cancel is named, and not waited for',
    async (fixture, engine) => {
      await fixture.make('kept', [keyed, unkeyed])
      const spec = fixture.spec(['kept'], { mode: 'online' })
      await startReplicating(fixture, engine, 'kept', spec)
      await using source = await fixture.session('source', 'kept')
      await source.run(
        `CREATE FUNCTION public.freeze() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'frozen'; END $$;
         CREATE EVENT TRIGGER frozen ON ddl_command_start EXECUTE FUNCTION public.freeze()`,
      )
      await engine.cancel('kept', ['kept'])
      const ended = only(await fixture.until(engine, 'kept', isEnded))
      assert.equal(ended.phase, 'canceled', ended.message)
      assert.match(
        ended.message,
        /Not put back: the publication mig_kept_0 of the source \(frozen\), and with it REPLICA IDENTITY FULL of "public"\."no_key"\.$/,
      )
      assert.equal(await source.value('SELECT count(*) FROM pg_replication_slots'), '0')
      // One that comes after it knows what belongs to migrations.
      await source.run('DROP EVENT TRIGGER frozen')
      const more = fixture.spec(['kept'], { mode: 'online', overwrite: true })
      await startReplicating(fixture, engine, 'kept2', more)
      await source.run(
        "DROP PUBLICATION mig_kept_0; CREATE EVENT TRIGGER frozen ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION public.freeze()",
      )
      await engine.cancel('kept2', ['kept'])
      const again = only(await fixture.until(engine, 'kept2', isEnded))
      assert.match(
        again.message,
        /Not put back: the replica identity of the source's "public"\."no_key" \(frozen\), which stays FULL\.$/,
      )
    },
  )

  variant('what is known of large objects comes over', async (fixture, engine) => {
    for (const side of ['source', 'target'] as const) {
      await using server = await fixture.session(side, 'postgres')
      await server.run('CREATE ROLE lo_keeper; CREATE ROLE lo_reader')
    }
    await fixture.make('objects', [
      keyed,
      `SELECT lo_from_bytea(4711, 'one'); COMMENT ON LARGE OBJECT 4711 IS 'it''s one'; GRANT SELECT ON LARGE OBJECT 4711 TO lo_reader;
       SELECT lo_from_bytea(4712, 'two'); GRANT UPDATE ON LARGE OBJECT 4712 TO lo_reader`,
    ])
    const spec = fixture.spec(['objects'], { mode: 'online' })
    await startReplicating(fixture, engine, 'objects', spec)
    await using source = await fixture.session('source', 'objects')
    await using target = await fixture.session('target', 'objects')
    const known = `SELECT string_agg(concat_ws(' ', oid, pg_get_userbyid(lomowner), (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(lomacl) a), obj_description(oid, 'pg_largeobject')), '; ' ORDER BY oid)
      FROM pg_largeobject_metadata`
    const before = await source.value(known)
    assert.equal(await target.value(known), before)
    await source.run(
      `ALTER LARGE OBJECT 4712 OWNER TO lo_keeper; REVOKE ALL ON LARGE OBJECT 4712 FROM lo_reader; COMMENT ON LARGE OBJECT 4712 IS 'kept';
       GRANT SELECT ON LARGE OBJECT 4711 TO PUBLIC; COMMENT ON LARGE OBJECT 4711 IS NULL`,
    )
    const after = await source.value(known)
    const ended = await cutOver(fixture, engine, 'objects')
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using moved = await fixture.session('target', 'objects')
    assert.equal(await moved.value(known), after)
    assert.notEqual(after, before)
  })

  hazard('rows that could not be found again come over at the cutover', async (fixture, engine) => {
    const kinds = ['json', 'point[]', 'pair', 'note_text', 'polygon']
    const names = kinds.map((_, at) => `no_key_${at}`)
    await fixture.make('unfindable', [
      'CREATE TYPE pair AS (a int, x xml); CREATE DOMAIN note_text AS json',
      ...kinds.map(
        (kind, at) =>
          `CREATE TABLE ${names[at]} (a int, j ${kind}); INSERT INTO ${names[at]} VALUES (1, NULL)`,
      ),
      "CREATE TABLE found (a int, t varchar, j jsonb, n int[]); INSERT INTO found VALUES (1, 'x', '{}', '{1}')",
    ])
    const spec = fixture.spec(['unfindable'], { mode: 'online' })
    const report = JSON.stringify((await engine.validate(spec, fixture.credentials)).databases)
    for (const name of names)
      assert.match(report, new RegExp(`"${name}`.replace('"', '\\W')), report)
    assert.doesNotMatch(report, /found.{0,3} have no key/)
    await startReplicating(fixture, engine, 'unfindable', spec)
    await using source = await fixture.session('source', 'unfindable')
    await source.run("UPDATE public.found SET t = 'y'")
    for (const name of names)
      await source.run(
        `UPDATE public.${name} SET a = 2; INSERT INTO public.${name} (a) VALUES (3); DELETE FROM public.${name} WHERE a = 1`,
      )
    const ended = await cutOver(fixture, engine, 'unfindable')
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using target = await fixture.session('target', 'unfindable')
    for (const name of names)
      assert.equal(
        await target.value(`SELECT string_agg(a::text, ',' ORDER BY a) FROM public.${name}`),
        '2,3',
      )
    assert.equal(await target.value('SELECT t FROM public.found'), 'y')
    assert.deepEqual(await engine.traces('unfindable', spec, fixture.credentials), [])
  })

  // Online they stand beside the migration's own publication, so offline is left to the long suite.
  for (const mode of someOf(['offline', 'online'] as const, 2, 1))
    hazard(`publications of the application come along, ${mode}`, async (fixture, engine) => {
      const name = `sent${mode}`
      await fixture.make(name, [
        `CREATE SCHEMA "Odd ""one"""; CREATE TABLE "Odd ""one"""."json" ("user" int PRIMARY KEY, "system_user" text);
         CREATE TABLE no_key (a int); CREATE TABLE "Odd ""one""".other (a int PRIMARY KEY)`,
        `CREATE PUBLICATION chosen FOR TABLE "Odd ""one"""."json" ("user", "system_user") WHERE ("user" > 3 AND "system_user" <> 'it''s'), no_key
           WITH (publish = 'insert, update');
         COMMENT ON PUBLICATION chosen IS 'it''s';
         CREATE PUBLICATION "whole schema" FOR TABLES IN SCHEMA "Odd ""one""" WITH (publish_via_partition_root = true);
         CREATE PUBLICATION none_yet; CREATE PUBLICATION everything FOR ALL TABLES;`,
      ])
      const spec = fixture.spec([name], { mode })
      if (mode === 'online') {
        await startReplicating(fixture, engine, name, spec)
        await engine.cutover(name, [name])
      } else await engine.run(name, spec, fixture.credentials)
      const ended = only(await fixture.until(engine, name, isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
      assert.equal(ended.message, 'Migrated.')
      const query = `SELECT pg_catalog.jsonb_agg(jsonb_build_array(p.pubname, p.puballtables, p.pubinsert, p.pubupdate, p.pubdelete,
          p.pubtruncate, p.pubviaroot, obj_description(p.oid, 'pg_publication'), pg_get_userbyid(p.pubowner),
          (SELECT jsonb_agg(jsonb_build_array(t.schemaname, t.tablename, t.attnames) ORDER BY t.tablename)
            FROM pg_publication_tables t WHERE t.pubname = p.pubname)) ORDER BY p.pubname)
        FROM pg_publication p`
      await using source = await fixture.session('source', name)
      await using target = await fixture.session('target', name)
      assert.deepEqual(await target.rows(query), await source.rows(query))
      const filter = `SELECT pg_get_expr(prqual, prrelid) FROM pg_publication_rel WHERE prqual IS NOT NULL`
      // Each version quotes its own keywords.
      const bare = async (side: typeof source) => (await side.value(filter))?.replaceAll('"', '')
      assert.equal(await bare(target), await bare(source))
      const identity = `SELECT relreplident FROM pg_class WHERE relname = 'no_key'`
      assert.equal(await source.value(identity), 'd')
      assert.deepEqual(await engine.traces(name, spec, fixture.credentials), [])
    })

  variant(
    'a publication that the target refuses is reported as left out',
    async (fixture, engine) => {
      await fixture.make('unsent', [
        `CREATE PUBLICATION everything FOR ALL TABLES; CREATE TABLE note (id int PRIMARY KEY);
       CREATE FUNCTION no_more() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no more'; END $$;
       CREATE EVENT TRIGGER no_more ON ddl_command_start WHEN TAG IN ('CREATE PUBLICATION') EXECUTE FUNCTION no_more();
       ALTER EVENT TRIGGER no_more ENABLE ALWAYS`,
      ])
      const spec = fixture.spec(['unsent'], { mode: 'offline' })
      await engine.run('unsent', spec, fixture.credentials)
      const ended = only(await fixture.until(engine, 'unsent', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
      assert.match(ended.message, /Left out: the publication everything \(no more\)/)
    },
  )

  variant(
    'a compression that the target was built without is left out',
    async (fixture, engine) => {
      await fixture.make('compressed', ['CREATE TABLE note (id int PRIMARY KEY, t text, u text)'])
      await using source = await fixture.session('source', 'compressed')
      const isKnown =
        "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"
      await using target = await fixture.session('target', 'postgres')
      // It depends on how the two servers were built.
      if ((await source.value(isKnown)) !== 'true' || (await target.value(isKnown)) === 'true')
        return
      await source.run(
        "ALTER TABLE public.note ALTER t SET COMPRESSION lz4, ALTER u SET COMPRESSION pglz; INSERT INTO public.note VALUES (1, repeat('long', 5000), 'u')",
      )
      const spec = fixture.spec(['compressed'], { mode: 'online' })
      const report = JSON.stringify((await engine.validate(spec, fixture.credentials)).databases)
      assert.match(report, /1 columns are compressed by lz4/)
      await startReplicating(fixture, engine, 'compressed', spec)
      const ended = await cutOver(fixture, engine, 'compressed')
      assert.equal(ended.phase, 'succeeded', ended.message)
      assert.match(ended.message, /Left out: the compression lz4 of 1 columns/)
      await using moved = await fixture.session('target', 'compressed')
      assert.equal(await moved.value('SELECT length(t) FROM public.note'), '20000')
    },
  )

  variant('a comparison sees every column', async (fixture, engine) => {
    await fixture.make('compared', [
      'CREATE TABLE note (a int PRIMARY KEY, b int, t text); INSERT INTO note VALUES (1, 1, $$same$$)',
    ])
    const spec = fixture.spec(['compared'], { mode: 'online', verify: 'checksums' })
    await startReplicating(fixture, engine, 'compared', spec)
    await using target = await fixture.session('target', 'compared')
    await target.run('UPDATE public.note SET b = 2')
    const ended = await cutOver(fixture, engine, 'compared')
    assert.equal(ended.phase, 'failed')
    assert.match(ended.message, /note" differs in content/)
  })

  variant('a source that is a subscriber itself is waited for', async (fixture, engine) => {
    await fixture.make('chained', [keyed])
    await using source = await fixture.session('source', 'chained')
    await source.run(
      `CREATE SUBSCRIPTION chain CONNECTION 'host=127.0.0.1 port=1' PUBLICATION p WITH (connect = false)`,
    )
    await source.run('ALTER SUBSCRIPTION chain ENABLE')
    const spec = fixture.spec(['chained'], { mode: 'online' })
    await startReplicating(fixture, engine, 'chained', spec)
    await engine.cutover('chained', ['chained'])
    const seen = await fixture.until(
      engine,
      'chained',
      (one) => isEnded(one) || /subscription/.test(only(one).message),
    )
    assert.equal(isEnded(seen), false, only(seen).message)
    await source.run('ALTER SUBSCRIPTION chain DISABLE')
    const ended = only(await fixture.until(engine, 'chained', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using again = await fixture.session('source', 'chained')
    await again.run('ALTER SUBSCRIPTION chain SET (slot_name = NONE)')
    await again.run('DROP SUBSCRIPTION chain')
  })

  hazard('a prepared transaction is waited for, not lost', async (fixture, engine) => {
    await fixture.make('prepared', [keyed])
    const spec = fixture.spec(['prepared'], { mode: 'online', verify: 'counts', fence: 'stay' })
    await startReplicating(fixture, engine, 'prepared', spec)
    {
      await using writer = await fixture.session('source', 'prepared')
      await writer.run(
        "BEGIN; INSERT INTO public.note VALUES (1000, 'open'); PREPARE TRANSACTION 'two'",
      )
    }
    await engine.cutover('prepared', ['prepared'])
    const seen = await fixture.until(
      engine,
      'prepared',
      (one) => isEnded(one) || /prepared/.test(only(one).message),
    )
    assert.equal(isEnded(seen), false, only(seen).message)
    await using later = await fixture.session('source', 'prepared')
    await later.run("COMMIT PREPARED 'two'")
    const ended = only(await fixture.until(engine, 'prepared', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using target = await fixture.session('target', 'prepared')
    assert.equal(await target.value('SELECT count(*) FROM public.note'), '201')
  })

  variant('a target that does not apply shuts nobody out', async (fixture, engine) => {
    await fixture.make('stuck', [keyed])
    const spec = fixture.spec(['stuck'], { mode: 'online', fence: 'stay' })
    await startReplicating(fixture, engine, 'stuck', spec)
    await using target = await fixture.session('target', 'stuck')
    await target.run("INSERT INTO public.note VALUES (5000, 'theirs')")
    await using source = await fixture.session('source', 'stuck')
    await source.run("INSERT INTO public.note VALUES (5000, 'ours')")
    const ended = await cutOver(fixture, engine, 'stuck')
    assert.equal(ended.phase, 'failed')
    assert.equal(await target.value('SELECT t FROM public.note WHERE id = 5000'), 'theirs')
    assert.deepEqual(await engine.traces('stuck', spec, fixture.credentials), [])
    // This session was never ended, so there was no fence.
    await source.run("INSERT INTO public.note VALUES (5001, 'still open')")
  })

  // Covered by `servers-away.test.ts`, through the plane.
  variant(
    'a password changed in the middle is taken from the next call',
    async (fixture, engine) => {
      await using server = await fixture.session('source', 'postgres')
      await server.run("CREATE ROLE mover SUPERUSER LOGIN PASSWORD 'before'")
      const after = `it's \\ "new" = é`
      const ends = [
        ['rotated', 'succeeded'],
        ['rotated2', 'canceled'],
      ] as const
      for (const [database, end] of someOf(ends, 2)) {
        await server.run("ALTER ROLE mover PASSWORD 'before'")
        await fixture.make(database, [keyed, unkeyed])
        const plain = fixture.spec([database], { mode: 'online' })
        const spec = { ...plain, source: { ...plain.source, user: 'mover' } }
        const before = { ...fixture.credentials, sourcePassword: 'before' }
        await startReplicating(fixture, engine, database, spec, before)
        await server.run(`ALTER ROLE mover PASSWORD ${quoteText(after)}`)
        const endSessions = (): Promise<void> =>
          server.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'mover'",
          )
        await endSessions()
        await using source = await fixture.session('source', database)
        await source.run("INSERT INTO public.note VALUES (9000, 'late')")
        if (end === 'canceled') await engine.cancel(database, [database])
        else await engine.cutover(database, [database])
        for (let looks = 0; ; looks++) {
          const seen = await engine.observe(database)
          assert.equal(isEnded(seen), false, only(seen).message)
          if (seen.worker === 'lost') break
          assert.ok(looks < 600, JSON.stringify(seen))
          await sleep(100)
          // A session that was accepted just before the password changed may have started after the others were
          // ended.
          await endSessions()
        }
        await engine.run(database, spec, { ...before, sourcePassword: after })
        const ended = only(await fixture.until(engine, database, isEnded))
        assert.equal(ended.phase, end, ended.message)
        assert.deepEqual(
          await engine.traces(database, spec, { ...before, sourcePassword: after }),
          [],
        )
      }
    },
  )

  hazard('event triggers and triggers that fire always fire once', async (fixture, engine) => {
    await fixture.make('audit', [
      keyed,
      `CREATE TABLE log (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, what text);
       CREATE FUNCTION note_ddl() RETURNS event_trigger LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO public.log (what) VALUES (tg_tag); END $$;
       CREATE EVENT TRIGGER note_ddl ON ddl_command_end EXECUTE FUNCTION note_ddl();
       CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO public.log (what) VALUES ('row ' || new.id); RETURN new; END $$;
       CREATE TRIGGER note_row AFTER INSERT ON note FOR EACH ROW EXECUTE FUNCTION note_row();
       ALTER TABLE note ENABLE ALWAYS TRIGGER note_row`,
    ])
    const spec = fixture.spec(['audit'], { mode: 'online' })
    await startReplicating(fixture, engine, 'audit', spec)
    await using source = await fixture.session('source', 'audit')
    await source.run("INSERT INTO public.note VALUES (1000, 'x'), (1001, 'y')")
    const ended = await cutOver(fixture, engine, 'audit')
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using target = await fixture.session('target', 'audit')
    assert.equal(
      await target.value("SELECT tgenabled FROM pg_trigger WHERE tgname = 'note_row'"),
      'A',
    )
  })

  variant(
    'tables without columns, with computed ones, with one called as the row is, with a deferrable key, or under forced row security take changes',
    async (fixture, engine) => {
      await fixture.make('shapes', [
        // Such a key identifies no row.
        `CREATE TABLE deferred (a int PRIMARY KEY DEFERRABLE, t text);
       INSERT INTO deferred VALUES (1, 'a'), (2, 'b')`,
        `CREATE TABLE bare (); INSERT INTO bare DEFAULT VALUES;
       CREATE TABLE computed (a int GENERATED ALWAYS AS (1) STORED); INSERT INTO computed DEFAULT VALUES;
       CREATE TABLE counted (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
         b int, c int GENERATED ALWAYS AS (b * 2) STORED); INSERT INTO counted (b) VALUES (1), (2)`,
        `CREATE UNLOGGED TABLE scratch (a int, t text); INSERT INTO scratch VALUES (1, 'same');
       CREATE TABLE same (a int PRIMARY KEY, t text); INSERT INTO same VALUES (1, 'same')`,
        `CREATE ROLE keeper; CREATE TABLE note (id int PRIMARY KEY, t text);
       ALTER TABLE note ENABLE ROW LEVEL SECURITY; ALTER TABLE note FORCE ROW LEVEL SECURITY;
       ALTER TABLE note OWNER TO keeper; INSERT INTO note VALUES (1, 'a')`,
      ])
      const spec = fixture.spec(['shapes'], { mode: 'online' })
      const unasked = { ...spec, setUpReplication: false }
      const survey = await engine.survey('shapes', unasked, fixture.credentials)
      assert.equal(survey.replication.kind, 'consent-needed')
      await startReplicating(fixture, engine, 'shapes', spec)
      await using source = await fixture.session('source', 'shapes')
      await source.run(`INSERT INTO public.bare DEFAULT VALUES; INSERT INTO public.computed DEFAULT VALUES;
      INSERT INTO public.counted (b) VALUES (3); UPDATE public.counted SET b = 7 WHERE b = 1;
      DELETE FROM public.counted WHERE b = 2; TRUNCATE public.bare; INSERT INTO public.bare DEFAULT VALUES;
      UPDATE public.scratch SET a = 2; UPDATE public.deferred SET t = 'c' WHERE a = 1;
      INSERT INTO public.note VALUES (2, 'b'); UPDATE public.note SET t = 'c'`)
      const ended = await cutOver(fixture, engine, 'shapes')
      assert.equal(ended.phase, 'succeeded', ended.message)
      await using target = await fixture.session('target', 'shapes')
      assert.equal(
        await target.value(
          "SELECT (SELECT count(*) FROM public.bare) || ' ' || (SELECT count(*) FROM public.computed) || ' ' || (SELECT string_agg(t::text, ' ' ORDER BY t) FROM public.counted t)",
        ),
        '1 2 (1,7,14) (3,3,6)',
      )
      assert.equal(await target.value('SELECT a FROM public.scratch'), '2')
      assert.equal(await target.value('SELECT t FROM public.deferred WHERE a = 1'), 'c')
      assert.equal(
        await target.value("SELECT string_agg(id || t, ' ' ORDER BY id) FROM public.note"),
        '1c 2c',
      )
    },
  )
})
