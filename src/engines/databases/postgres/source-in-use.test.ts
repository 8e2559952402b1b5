/** What people and programs alter at the servers while changes flow: nothing may be lost silently. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { onlyLong } from '../../../../tests/long.ts'
import type { DatabaseEngine, ObservedMigration } from '../engine.ts'
import { isEnded, type MigrationFixture, only, startReplicating } from '../testing/fixture.ts'
import { migrationTests } from '../testing/migration-tests.ts'
import { startServer } from '../testing/servers.ts'

const keyed = `CREATE TABLE note (id int PRIMARY KEY, t text);
  INSERT INTO note SELECT g, 'n' || g FROM generate_series(1, 200) g`
const unkeyed = 'CREATE TABLE no_key (a int); INSERT INTO no_key VALUES (1), (2)'

describe('a source in use', () => {
  const hazard = migrationTests(15, 18, { max_prepared_transactions: '5' })
  const variant = onlyLong(hazard)
  const cutOver = async (fixture: MigrationFixture, engine: DatabaseEngine, database: string) => {
    await engine.cutover(database, [database])
    return only(await fixture.until(engine, database, isEnded))
  }

  // Covered by `names-and-rights.test.ts`, offline.
  variant('names that only a newer version knows as keywords', async (fixture, engine) => {
    await fixture.make('keywords', [
      `CREATE TYPE json_scalar AS ENUM ('a', 'b');
       CREATE TABLE json (id int PRIMARY KEY, json text, json_table int, absent json_scalar DEFAULT 'a',
         merge_action int GENERATED ALWAYS AS (json_table + 1) STORED, "Mixed Case" int);
       CREATE TABLE json_array (json_object int PRIMARY KEY REFERENCES json);
       INSERT INTO json (id, json, json_table) VALUES (1, 'one', 1)`,
    ])
    const spec = fixture.spec(['keywords'], { mode: 'online' })
    await startReplicating(fixture, engine, 'keywords', spec)
    await using source = await fixture.session('source', 'keywords')
    await source.run(
      "INSERT INTO public.json (id, json, absent) VALUES (2, 'two', 'b'); INSERT INTO public.json_array VALUES (2)",
    )
    const ended = await cutOver(fixture, engine, 'keywords')
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.equal(ended.verified?.rows, 3)
  })

  variant('progress of the indexes is shown while they are built', async (fixture, engine) => {
    await fixture.make('indexed', [
      keyed,
      `CREATE FUNCTION slow(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
       CREATE INDEX by_slow ON note (slow(id)); CREATE TABLE "Other" (a int UNIQUE);
       CREATE OR REPLACE FUNCTION slow(int) RETURNS int IMMUTABLE LANGUAGE plpgsql
         AS 'BEGIN PERFORM pg_catalog.pg_sleep(0.02); RETURN $1; END'`,
    ])
    await engine.run('indexed', fixture.spec(['indexed']), fixture.credentials)
    const told = /: [12] of 3 indexes are built\. Now on public\.note \(building index.*\)\.$/
    await fixture.until(engine, 'indexed', (one) => told.test(one.databases[0]?.message ?? ''))
    const ended = only(await fixture.until(engine, 'indexed', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
  })

  hazard('a target that is full fails the copy at once, in its words', async (fixture, engine) => {
    await fixture.make('filled', [
      `CREATE FUNCTION has_room(int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
         IF current_setting('server_version_num')::int < 160000 THEN RETURN true; END IF;
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
       END $$;
       CREATE TABLE large (a int CHECK (has_room(a))); INSERT INTO large VALUES (1)`,
    ])
    const spec = fixture.spec(['filled'])
    await engine.run('filled', spec, fixture.credentials)
    const ended = only(await fixture.until(engine, 'filled', isEnded))
    assert.deepEqual([ended.phase, ended.attempt], ['failed', 1])
    assert.match(ended.message, /No space left on device/)
    assert.deepEqual(await engine.traces('filled', spec, fixture.credentials), [])
  })

  // Covered by `migrations.test.ts` of the resource type, through the plane.
  variant('one that failed is tried again alone, the others stay', async (fixture, engine) => {
    await fixture.make('sound', [keyed])
    // Such an index cannot be restored: its function finds its table only by a search path.
    await fixture.make('brittle', [
      `CREATE TABLE other (id int); INSERT INTO other VALUES (1);
       CREATE TABLE note (id int PRIMARY KEY);
       CREATE FUNCTION looked_up(int) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT count(*) + $1 FROM note';
       CREATE INDEX looks ON other (looked_up(id))`,
    ])
    const spec = fixture.spec(['sound', 'brittle'], { mode: 'online' })
    await engine.run('again', spec, fixture.credentials)
    const phases = (wanted: readonly string[]) => (seen: ObservedMigration) =>
      seen.databases.length === 2 && seen.databases.every((one, at) => one.phase === wanted[at])
    const half = await fixture.until(engine, 'again', phases(['replicating', 'failed']))
    await using source = await fixture.session('source', 'brittle')
    await source.run('DROP INDEX public.looks')
    await engine.retry('again', ['sound', 'brittle'])
    const whole = await fixture.until(engine, 'again', phases(['replicating', 'replicating']))
    assert.equal(whole.databases[0]?.startedAt, half.databases[0]?.startedAt)
    assert.deepEqual(
      whole.databases.map(({ attempt }) => attempt),
      [1, 1],
    )
    await source.run('INSERT INTO public.other VALUES (2)')
    await engine.cutover('again', ['sound', 'brittle'])
    const ended = await fixture.until(engine, 'again', isEnded)
    assert.ok(phases(['succeeded', 'succeeded'])(ended), JSON.stringify(ended.databases))
    await using target = await fixture.session('target', 'brittle')
    assert.equal(await target.value('SELECT count(*) FROM public.other'), '2')
    assert.deepEqual(await engine.traces('again', spec, fixture.credentials), [])
    await assert.rejects(engine.retry('again', ['brittle']), /at an end/)
  })

  hazard(
    'one that is tried again while it is cleaned up begins after that',
    async (fixture, engine) => {
      // It fails with its first row, and its copy cannot be dropped: it is a template by then.
      await fixture.make('cleaned', [
        `CREATE FUNCTION clings(int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
         IF current_setting('session_replication_role') <> 'replica' THEN RETURN true; END IF;
         ALTER DATABASE cleaned IS_TEMPLATE true; RETURN true; END $$;
       CREATE TABLE clinging (id int CHECK (clings(id))); INSERT INTO clinging VALUES (1);
       CREATE TABLE other (id int); INSERT INTO other VALUES (1);
       CREATE FUNCTION looked_up(int) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT count(*) + $1 FROM clinging';
       CREATE INDEX looks ON other (looked_up(id))`,
      ])
      await engine.run('cleaned', fixture.spec(['cleaned']), fixture.credentials)
      const held = await fixture.until(
        engine,
        'cleaned',
        (one) => isEnded(one) || one.pendingCleanUps.length > 0,
      )
      assert.equal(only(held).phase, 'cleaning-up', only(held).message)
      await engine.retry('cleaned', ['cleaned'])
      await using source = await fixture.session('source', 'cleaned')
      await source.run(
        'DROP INDEX public.looks; ALTER TABLE public.clinging DROP CONSTRAINT clinging_id_check',
      )
      await using target = await fixture.session('target', 'postgres')
      await target.run('ALTER DATABASE cleaned IS_TEMPLATE false')
      const ended = only(await fixture.until(engine, 'cleaned', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
    },
  )

  /** Waits for the whole message: a check that was running while a test altered things tells half of it. */
  const heldMessage = async (
    fixture: MigrationFixture,
    engine: DatabaseEngine,
    database: string,
    told: readonly RegExp[],
  ) => {
    const seen = await fixture.until(engine, database, (one) => {
      const { message } = only(one)
      const isTold = [/waits.*structure/, ...told].every((pattern) => pattern.test(message))
      return isEnded(one) || isTold
    })
    assert.equal(isEnded(seen), false, only(seen).message)
    return only(seen).message
  }
  const fences = `SELECT count(*) FROM pg_catalog.pg_db_role_setting s
    JOIN pg_catalog.pg_database d ON d.oid = setdatabase WHERE datname = current_database()`

  hazard(
    'structure altered meanwhile holds the cutover until both ends are alike',
    async (fixture, engine) => {
      await fixture.make('altered', [
        keyed,
        unkeyed,
        `CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN new; END $$;
       ALTER TABLE note ADD COLUMN n int`,
      ])
      const spec = fixture.spec(['altered'], { mode: 'online', verify: 'none' })
      await startReplicating(fixture, engine, 'altered', spec)
      await using source = await fixture.session('source', 'altered')
      const changes = `ALTER TABLE public.note ALTER t SET DEFAULT 'x', ALTER n SET NOT NULL,
        ADD CONSTRAINT small CHECK (n < 1000), ADD FOREIGN KEY (n) REFERENCES public.note;
      CREATE UNIQUE INDEX note_by_t ON public.note (t);
      CREATE TRIGGER noted BEFORE UPDATE ON public.note FOR EACH ROW EXECUTE FUNCTION public.noted();
      ALTER TABLE public.note ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON public.note USING (id > 0)`
      await source.run(`UPDATE public.note SET n = id; ${changes}`)
      // It is reported before anybody asks for the cutover.
      const told = await fixture.until(engine, 'altered', (one) =>
        /would wait/.test(only(one).message),
      )
      assert.match(only(told).message, /column t of public\.note differs: default 'x'/)
      await engine.cutover('altered', ['altered'])
      await heldMessage(fixture, engine, 'altered', [
        /n of public\.note differs: not null yes at the source, \(none\) at the target/,
        /constraint small of/,
        /constraint note_n_fkey of/,
        /index note_by_t of/,
        /trigger noted of/,
        /row security on at the source/,
        /policy own of/,
      ])
      assert.equal(await source.value(fences), '0', 'nobody is kept out while it waits')
      await using target = await fixture.session('target', 'altered')
      await target.run(changes)
      const ended = only(await fixture.until(engine, 'altered', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
    },
  )

  // Covered by the tables created meanwhile, and by `structure.test.ts`.
  variant('a sequence and a partition made meanwhile are reported', async (fixture, engine) => {
    await fixture.make('made', [
      `CREATE TABLE part (id int PRIMARY KEY) PARTITION BY RANGE (id);
       CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10); INSERT INTO part VALUES (1)`,
    ])
    await startReplicating(fixture, engine, 'made', fixture.spec(['made'], { mode: 'online' }))
    await using source = await fixture.session('source', 'made')
    await source.run(`CREATE SEQUENCE public.late; SELECT setval('public.late', 7);
      CREATE TABLE public.part_2 PARTITION OF public.part FOR VALUES FROM (10) TO (20);
      INSERT INTO public.part VALUES (2), (11)`)
    const told = await fixture.until(engine, 'made', (one) => /would wait/.test(only(one).message))
    assert.match(only(told).message, /public\.late/)
    assert.match(only(told).message, /public\.part_2/)
    await engine.cutover('made', ['made'])
    await heldMessage(fixture, engine, 'made', [/public\.late/])
    await source.run('DROP TABLE public.part_2')
    await using target = await fixture.session('target', 'made')
    await target.run('CREATE SEQUENCE public.late')
    const ended = only(await fixture.until(engine, 'made', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.equal(await target.value('SELECT last_value FROM public.late'), '7')
  })

  // Covered by the structure altered at the source: both ends are compared in one place.
  variant('structure altered at the target holds the cutover too', async (fixture, engine) => {
    await fixture.make('lessened', [keyed, 'CREATE INDEX by_t ON note (t)'])
    const spec = fixture.spec(['lessened'], { mode: 'online' })
    await startReplicating(fixture, engine, 'lessened', spec)
    await using target = await fixture.session('target', 'lessened')
    await target.run('DROP INDEX public.by_t')
    await engine.cutover('lessened', ['lessened'])
    await heldMessage(fixture, engine, 'lessened', [
      /index by_t of public\.note is at the source and not at the target/,
    ])
    await target.run('CREATE INDEX by_t ON public.note (t)')
    const ended = only(await fixture.until(engine, 'lessened', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
  })

  hazard(
    'tables made, altered and dropped meanwhile are reported, and never lost',
    async (fixture, engine) => {
      await fixture.make('changed', [
        keyed,
        unkeyed,
        'CREATE TABLE parts (a int) PARTITION BY LIST (a); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1)',
      ])
      const spec = fixture.spec(['changed'], { mode: 'online', verify: 'none' })
      await startReplicating(fixture, engine, 'changed', spec)
      await using source = await fixture.session('source', 'changed')
      await using target = await fixture.session('target', 'changed')
      await source.run(`CREATE TABLE public.later AS SELECT 1 AS a; DROP TABLE public.no_key;
      CREATE TABLE public.parts_2 PARTITION OF public.parts FOR VALUES IN (2);
      INSERT INTO public.parts VALUES (2); ALTER TABLE public.note ALTER COLUMN t TYPE varchar(100)`)
      // If only the structure were created at the target, the rows of the new tables would be missing there.
      await target.run(
        'CREATE TABLE public.later (a int); CREATE TABLE public.parts_2 PARTITION OF public.parts FOR VALUES IN (2)',
      )
      await engine.cutover('changed', ['changed'])
      await heldMessage(fixture, engine, 'changed', [
        /table public\.later was made during the migration, and its rows do not/,
        /public\.parts_2 was made during the migration/,
        /table public\.no_key is at the target and not at the source/,
        /column t of public\.note differs: type character varying\(100\)/,
      ])
      await engine.cancel('changed', ['changed'])
      assert.equal(only(await fixture.until(engine, 'changed', isEnded)).phase, 'canceled')
      assert.equal(await source.value(fences), '0')
    },
  )

  hazard('structure altered while it is copied offline is no success', async (fixture, engine) => {
    await fixture.make('offline', [keyed])
    await using source = await fixture.session('source', 'offline')
    // Delayed until its structure is altered: the copy waits for this lock.
    await source.run('BEGIN; LOCK TABLE public.note IN ACCESS EXCLUSIVE MODE')
    await engine.run('offline', fixture.spec(['offline'], { verify: 'none' }), fixture.credentials)
    await fixture.until(engine, 'offline', (one) => one.databases[0]?.phase === 'preparing')
    const waiting = `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'public.note'::regclass`
    for (let looks = 0; (await source.value(waiting)) === '0'; looks++) {
      assert.ok(looks < 600)
      await sleep(50)
    }
    await source.run('CREATE VIEW public.late AS SELECT 1 AS a; COMMIT')
    const ended = only(await fixture.until(engine, 'offline', isEnded))
    assert.equal(ended.phase, 'failed')
    assert.match(ended.message, /view public\.late is at the source and not at the target/)
  })

  hazard('two migrations of one database share its tables', async (fixture, engine) => {
    await fixture.make('shared', [keyed, unkeyed])
    await using other = await startServer(18)
    const one = fixture.spec(['shared'], { mode: 'online' })
    const two = { ...one, target: other.address }
    const secrets = { ...fixture.credentials, targetPassword: other.password }
    await startReplicating(fixture, engine, 'shareda', one)
    await startReplicating(fixture, engine, 'sharedb', two, secrets)
    await engine.cancel('shareda', ['shared'])
    await fixture.until(engine, 'shareda', isEnded)
    await using source = await fixture.session('source', 'shared')
    await source.run('UPDATE public.no_key SET a = a + 10')
    await engine.cancel('sharedb', ['shared'])
    await fixture.until(engine, 'sharedb', isEnded)
    assert.equal(
      await source.value("SELECT relreplident FROM pg_class WHERE relname = 'no_key'"),
      'd',
    )
  })
})
