/** What people and programs do at the servers while changes flow: nothing of it may be lost without a word. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { DatabaseEngine } from '../engine.ts'
import { findServer, howToGetServers, startServer } from '../testing/servers.ts'
import {
  isEnded,
  type MigrationWorld,
  only,
  openWorld,
  startReplicating,
} from '../testing/world.ts'
import { quoteText } from './connect.ts'

const keyed = `CREATE TABLE note (id int PRIMARY KEY, t text);
  INSERT INTO note SELECT g, 'n' || g FROM generate_series(1, 200) g`
const unkeyed = 'CREATE TABLE no_key (a int); INSERT INTO no_key VALUES (1), (2)'

describe('a source in use', () => {
  let opened: MigrationWorld | undefined
  before(async () => {
    if (findServer(15) === undefined || findServer(18) === undefined) return
    opened = await openWorld(15, 18, { max_prepared_transactions: '5' })
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
  })
  const hazard = (
    title: string,
    body: (world: MigrationWorld, engine: DatabaseEngine) => Promise<void>,
  ): void => {
    test(title, async (t) => {
      if (!requireOrSkip(t, opened !== undefined, howToGetServers) || opened === undefined) return
      await using engine = opened.open()
      await body(opened, engine)
    })
  }
  const cutOver = async (world: MigrationWorld, engine: DatabaseEngine, database: string) => {
    await engine.cutover(database, [database])
    return only(await world.until(engine, database, isEnded))
  }

  hazard('a deferrable key identifies no row: updates go on', async (world, engine) => {
    await world.make('deferred', [
      `CREATE TABLE no_key (a int PRIMARY KEY DEFERRABLE, t text);
       INSERT INTO no_key VALUES (1, 'a'), (2, 'b')`,
    ])
    const spec = world.spec(['deferred'], { mode: 'online' })
    const unasked = { ...spec, setUpReplication: false }
    const survey = await engine.survey('deferred', unasked, world.credentials)
    assert.equal(survey.replication.kind, 'consent-needed')
    await startReplicating(world, engine, 'deferred', spec)
    await using source = await world.session('source', 'deferred')
    await source.run("UPDATE public.no_key SET t = 'c' WHERE a = 1")
    const ended = await cutOver(world, engine, 'deferred')
    assert.equal(ended.phase, 'succeeded', ended.message)
  })

  hazard('names that only a newer version knows as keywords', async (world, engine) => {
    await world.make('keywords', [
      `CREATE TYPE json_scalar AS ENUM ('a', 'b');
       CREATE TABLE json (id int PRIMARY KEY, json text, json_table int, absent json_scalar DEFAULT 'a',
         merge_action int GENERATED ALWAYS AS (json_table + 1) STORED, "Mixed Case" int);
       CREATE TABLE json_array (json_object int PRIMARY KEY REFERENCES json);
       INSERT INTO json (id, json, json_table) VALUES (1, 'one', 1)`,
    ])
    const spec = world.spec(['keywords'], { mode: 'online' })
    await startReplicating(world, engine, 'keywords', spec)
    await using source = await world.session('source', 'keywords')
    await source.run(
      "INSERT INTO public.json (id, json, absent) VALUES (2, 'two', 'b'); INSERT INTO public.json_array VALUES (2)",
    )
    const ended = await cutOver(world, engine, 'keywords')
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.equal(ended.verified?.rows, 3)
  })

  /** Waits for all that is told: a look that was under way while a test altered things tells half of it. */
  const heldMessage = async (
    world: MigrationWorld,
    engine: DatabaseEngine,
    database: string,
    told: readonly RegExp[],
  ) => {
    const seen = await world.until(engine, database, (one) => {
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
    async (world, engine) => {
      await world.make('altered', [
        keyed,
        unkeyed,
        `CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN new; END $$;
       ALTER TABLE note ADD COLUMN n int`,
      ])
      const spec = world.spec(['altered'], { mode: 'online', verify: 'none' })
      await startReplicating(world, engine, 'altered', spec)
      await using source = await world.session('source', 'altered')
      const changes = `ALTER TABLE public.note ALTER t SET DEFAULT 'x', ALTER n SET NOT NULL,
        ADD CONSTRAINT small CHECK (n < 1000), ADD FOREIGN KEY (n) REFERENCES public.note;
      CREATE UNIQUE INDEX note_by_t ON public.note (t);
      CREATE TRIGGER noted BEFORE UPDATE ON public.note FOR EACH ROW EXECUTE FUNCTION public.noted();
      ALTER TABLE public.note ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON public.note USING (id > 0)`
      await source.run(`UPDATE public.note SET n = id; ${changes}`)
      // It is told before anybody asks for the cutover.
      const told = await world.until(engine, 'altered', (one) =>
        /would wait/.test(only(one).message),
      )
      assert.match(only(told).message, /column t of public\.note differs: default 'x'/)
      await engine.cutover('altered', ['altered'])
      await heldMessage(world, engine, 'altered', [
        /n of public\.note differs: not null yes at the source, \(none\) at the target/,
        /constraint small of/,
        /constraint note_n_fkey of/,
        /index note_by_t of/,
        /trigger noted of/,
        /row security on at the source/,
        /policy own of/,
      ])
      assert.equal(await source.value(fences), '0', 'nobody is kept out while it waits')
      await using target = await world.session('target', 'altered')
      await target.run(changes)
      const ended = only(await world.until(engine, 'altered', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
    },
  )

  hazard('structure altered at the target holds the cutover too', async (world, engine) => {
    await world.make('lessened', [keyed, 'CREATE INDEX by_t ON note (t)'])
    const spec = world.spec(['lessened'], { mode: 'online' })
    await startReplicating(world, engine, 'lessened', spec)
    await using target = await world.session('target', 'lessened')
    await target.run('DROP INDEX public.by_t')
    await engine.cutover('lessened', ['lessened'])
    await heldMessage(world, engine, 'lessened', [
      /index by_t of public\.note is at the source and not at the target/,
    ])
    await target.run('CREATE INDEX by_t ON public.note (t)')
    const ended = only(await world.until(engine, 'lessened', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
  })

  hazard(
    'tables made, altered and dropped meanwhile are told, and never lost',
    async (world, engine) => {
      await world.make('changed', [
        keyed,
        unkeyed,
        'CREATE TABLE parts (a int) PARTITION BY LIST (a); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1)',
      ])
      const spec = world.spec(['changed'], { mode: 'online', verify: 'none' })
      await startReplicating(world, engine, 'changed', spec)
      await using source = await world.session('source', 'changed')
      await using target = await world.session('target', 'changed')
      await source.run(`CREATE TABLE public.later AS SELECT 1 AS a; DROP TABLE public.no_key;
      CREATE TABLE public.parts_2 PARTITION OF public.parts FOR VALUES IN (2);
      INSERT INTO public.parts VALUES (2); ALTER TABLE public.note ALTER COLUMN t TYPE varchar(100)`)
      // Made alike at the target, the rows of the new ones would still be missing there.
      await target.run(
        'CREATE TABLE public.later (a int); CREATE TABLE public.parts_2 PARTITION OF public.parts FOR VALUES IN (2)',
      )
      await engine.cutover('changed', ['changed'])
      await heldMessage(world, engine, 'changed', [
        /table public\.later was made during the migration, and its rows do not/,
        /public\.parts_2 was made during the migration/,
        /table public\.no_key is at the target and not at the source/,
        /column t of public\.note differs: type character varying\(100\)/,
      ])
      await engine.cancel('changed', ['changed'])
      assert.equal(only(await world.until(engine, 'changed', isEnded)).phase, 'canceled')
      assert.equal(await source.value(fences), '0')
    },
  )

  hazard('structure altered while it is copied offline is no success', async (world, engine) => {
    await world.make('offline', [keyed])
    await using source = await world.session('source', 'offline')
    // Held back until its structure is altered: the copy waits for this lock.
    await source.run('BEGIN; LOCK TABLE public.note IN ACCESS EXCLUSIVE MODE')
    await engine.run('offline', world.spec(['offline'], { verify: 'none' }), world.credentials)
    await world.until(engine, 'offline', (one) => one.databases[0]?.phase === 'preparing')
    const waiting = `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'public.note'::regclass`
    for (let looks = 0; (await source.value(waiting)) === '0'; looks++) {
      assert.ok(looks < 600)
      await sleep(50)
    }
    await source.run('CREATE VIEW public.late AS SELECT 1 AS a; COMMIT')
    const ended = only(await world.until(engine, 'offline', isEnded))
    assert.equal(ended.phase, 'failed')
    assert.match(ended.message, /view public\.late is at the source and not at the target/)
  })

  hazard('two migrations of one database share its tables', async (world, engine) => {
    await world.make('shared', [keyed, unkeyed])
    await using other = await startServer(18)
    const one = world.spec(['shared'], { mode: 'online' })
    const two = { ...one, target: other.address }
    const secrets = { ...world.credentials, targetPassword: other.password }
    await startReplicating(world, engine, 'shareda', one)
    await startReplicating(world, engine, 'sharedb', two, secrets)
    await engine.cancel('shareda', ['shared'])
    await world.until(engine, 'shareda', isEnded)
    await using source = await world.session('source', 'shared')
    await source.run('UPDATE public.no_key SET a = a + 10')
    await engine.cancel('sharedb', ['shared'])
    await world.until(engine, 'sharedb', isEnded)
    assert.equal(
      await source.value("SELECT relreplident FROM pg_class WHERE relname = 'no_key'"),
      'd',
    )
  })

  hazard('an open transaction that the slot waits for is named', async (world, engine) => {
    await world.make('waits', [keyed])
    await using writer = await world.session('source', 'waits')
    await writer.run("BEGIN; INSERT INTO public.note VALUES (1000, 'open')")
    const spec = world.spec(['waits'], { mode: 'online' })
    await engine.run('waits', spec, world.credentials)
    const seen = await world.until(engine, 'waits', (one) =>
      /transaction/.test(one.databases[0]?.message ?? ''),
    )
    assert.equal(only(seen).phase, 'preparing')
    await writer.run('COMMIT')
    await world.until(engine, 'waits', (one) => only(one).phase === 'replicating')
    const ended = await cutOver(world, engine, 'waits')
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.equal(ended.attempt, 1)
  })

  hazard('called off while the slot waits, it leaves nothing', async (world, engine) => {
    await world.make('waits2', [keyed])
    await using writer = await world.session('source', 'waits2')
    await writer.run("BEGIN; INSERT INTO public.note VALUES (1000, 'open')")
    const spec = world.spec(['waits2'], { mode: 'online' })
    await engine.run('waits2', spec, world.credentials)
    await world.until(engine, 'waits2', (one) =>
      /transaction/.test(one.databases[0]?.message ?? ''),
    )
    await engine.cancel('waits2', ['waits2'], { dropTarget: true })
    assert.equal(only(await world.until(engine, 'waits2', isEnded)).phase, 'canceled')
    assert.deepEqual(await engine.traces('waits2', spec, world.credentials), [])
    await writer.run('COMMIT')
  })

  hazard('a table in use is waited for without holding others up', async (world, engine) => {
    await world.make('busy', [keyed, unkeyed])
    await using reader = await world.session('source', 'busy')
    await reader.run('BEGIN; SELECT * FROM public.no_key')
    const spec = world.spec(['busy'], { mode: 'online' })
    await engine.run('busy', spec, world.credentials)
    await world.until(engine, 'busy', (one) => /no_key/.test(one.databases[0]?.message ?? ''))
    await using other = await world.session('source', 'busy')
    // The lock that is waited for goes away again and again, so that this one comes through.
    await other.run("SET lock_timeout = '15s'; SELECT count(*) FROM public.no_key")
    await reader.run('COMMIT')
    await world.until(engine, 'busy', (one) => only(one).phase === 'replicating')
    const ended = await cutOver(world, engine, 'busy')
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.equal(ended.attempt, 1)
  })

  hazard('rows that could not be found again are told before', async (world, engine) => {
    await world.make('unfindable', [
      "CREATE TABLE no_key (a int, j json); INSERT INTO no_key VALUES (1, '{}')",
    ])
    const spec = world.spec(['unfindable'], { mode: 'online' })
    const report = await engine.validate(spec, world.credentials)
    assert.match(JSON.stringify(report.databases), /no_key have no key, and columns of a type/)
    await startReplicating(world, engine, 'unfindable', spec)
    await using source = await world.session('source', 'unfindable')
    await source.run('UPDATE public.no_key SET a = 2')
    const ended = only(await world.until(engine, 'unfindable', isEnded))
    assert.equal(ended.phase, 'failed')
    assert.deepEqual(await engine.traces('unfindable', spec, world.credentials), [])
  })

  hazard('a column may be called as the row is', async (world, engine) => {
    await world.make('alike', [
      `CREATE UNLOGGED TABLE scratch (a int, t text); INSERT INTO scratch VALUES (1, 'same');
       CREATE TABLE note (a int PRIMARY KEY, t text); INSERT INTO note VALUES (1, 'same')`,
    ])
    const spec = world.spec(['alike'], { mode: 'online' })
    await startReplicating(world, engine, 'alike', spec)
    await using source = await world.session('source', 'alike')
    await source.run('UPDATE public.scratch SET a = 2')
    const ended = await cutOver(world, engine, 'alike')
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using target = await world.session('target', 'alike')
    assert.equal(await target.value('SELECT a FROM public.scratch'), '2')
  })

  hazard('a comparison sees every column', async (world, engine) => {
    await world.make('compared', [
      'CREATE TABLE note (a int PRIMARY KEY, b int, t text); INSERT INTO note VALUES (1, 1, $$same$$)',
    ])
    const spec = world.spec(['compared'], { mode: 'online', verify: 'checksums' })
    await startReplicating(world, engine, 'compared', spec)
    await using target = await world.session('target', 'compared')
    await target.run('UPDATE public.note SET b = 2')
    const ended = await cutOver(world, engine, 'compared')
    assert.equal(ended.phase, 'failed')
    assert.match(ended.message, /note" differs in content/)
  })

  hazard('a source that is a subscriber itself is waited for', async (world, engine) => {
    await world.make('chained', [keyed])
    await using source = await world.session('source', 'chained')
    await source.run(
      `CREATE SUBSCRIPTION chain CONNECTION 'host=127.0.0.1 port=1' PUBLICATION p WITH (connect = false)`,
    )
    await source.run('ALTER SUBSCRIPTION chain ENABLE')
    const spec = world.spec(['chained'], { mode: 'online' })
    await startReplicating(world, engine, 'chained', spec)
    await engine.cutover('chained', ['chained'])
    const seen = await world.until(
      engine,
      'chained',
      (one) => isEnded(one) || /subscription/.test(only(one).message),
    )
    assert.equal(isEnded(seen), false, only(seen).message)
    await source.run('ALTER SUBSCRIPTION chain DISABLE')
    const ended = only(await world.until(engine, 'chained', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using again = await world.session('source', 'chained')
    await again.run('ALTER SUBSCRIPTION chain SET (slot_name = NONE)')
    await again.run('DROP SUBSCRIPTION chain')
  })

  hazard('a prepared transaction is waited for, not lost', async (world, engine) => {
    await world.make('prepared', [keyed])
    const spec = world.spec(['prepared'], { mode: 'online', verify: 'counts', fence: 'stay' })
    await startReplicating(world, engine, 'prepared', spec)
    {
      await using writer = await world.session('source', 'prepared')
      await writer.run(
        "BEGIN; INSERT INTO public.note VALUES (1000, 'open'); PREPARE TRANSACTION 'two'",
      )
    }
    await engine.cutover('prepared', ['prepared'])
    const seen = await world.until(
      engine,
      'prepared',
      (one) => isEnded(one) || /prepared/.test(only(one).message),
    )
    assert.equal(isEnded(seen), false, only(seen).message)
    await using later = await world.session('source', 'prepared')
    await later.run("COMMIT PREPARED 'two'")
    const ended = only(await world.until(engine, 'prepared', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using target = await world.session('target', 'prepared')
    assert.equal(await target.value('SELECT count(*) FROM public.note'), '201')
  })

  hazard('a target that does not apply shuts nobody out', async (world, engine) => {
    await world.make('stuck', [keyed])
    const spec = world.spec(['stuck'], { mode: 'online', fence: 'stay' })
    await startReplicating(world, engine, 'stuck', spec)
    await using target = await world.session('target', 'stuck')
    await target.run("INSERT INTO public.note VALUES (5000, 'theirs')")
    await using source = await world.session('source', 'stuck')
    await source.run("INSERT INTO public.note VALUES (5000, 'ours')")
    const ended = await cutOver(world, engine, 'stuck')
    assert.equal(ended.phase, 'failed')
    // This very session was never ended, so no fence was put up.
    await source.run("INSERT INTO public.note VALUES (5001, 'still open')")
  })

  hazard('a password changed in the middle is taken from the next call', async (world, engine) => {
    await using server = await world.session('source', 'postgres')
    await server.run("CREATE ROLE mover SUPERUSER LOGIN PASSWORD 'before'")
    const after = `it's \\ "new" = é`
    for (const [database, end] of [
      ['rotated', 'succeeded'],
      ['rotated2', 'canceled'],
    ] as const) {
      await server.run("ALTER ROLE mover PASSWORD 'before'")
      await world.make(database, [keyed, unkeyed])
      const plain = world.spec([database], { mode: 'online' })
      const spec = { ...plain, source: { ...plain.source, user: 'mover' } }
      const before = { ...world.credentials, sourcePassword: 'before' }
      await startReplicating(world, engine, database, spec, before)
      await server.run(`ALTER ROLE mover PASSWORD ${quoteText(after)}`)
      const endSessions = (): Promise<void> =>
        server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'mover'")
      await endSessions()
      await using source = await world.session('source', database)
      await source.run("INSERT INTO public.note VALUES (9000, 'late')")
      if (end === 'canceled') await engine.cancel(database, [database])
      else await engine.cutover(database, [database])
      for (let looks = 0; ; looks++) {
        const seen = await engine.observe(database)
        assert.equal(isEnded(seen), false, only(seen).message)
        if (seen.worker === 'lost') break
        assert.ok(looks < 600, JSON.stringify(seen))
        await sleep(100)
        // One that was let in just before the password changed may have come after the others were ended.
        await endSessions()
      }
      await engine.run(database, spec, { ...before, sourcePassword: after })
      const ended = only(await world.until(engine, database, isEnded))
      assert.equal(ended.phase, end, ended.message)
      assert.deepEqual(
        await engine.traces(database, spec, { ...before, sourcePassword: after }),
        [],
      )
    }
  })

  hazard('event triggers and triggers that fire always fire once', async (world, engine) => {
    await world.make('audit', [
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
    const spec = world.spec(['audit'], { mode: 'online' })
    await startReplicating(world, engine, 'audit', spec)
    await using source = await world.session('source', 'audit')
    await source.run("INSERT INTO public.note VALUES (1000, 'x'), (1001, 'y')")
    const ended = await cutOver(world, engine, 'audit')
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using target = await world.session('target', 'audit')
    assert.equal(
      await target.value("SELECT tgenabled FROM pg_trigger WHERE tgname = 'note_row'"),
      'A',
    )
  })

  hazard('rows under forced row security come over', async (world, engine) => {
    await world.make('forced', [
      `CREATE ROLE keeper; CREATE TABLE note (id int PRIMARY KEY, t text);
       ALTER TABLE note ENABLE ROW LEVEL SECURITY; ALTER TABLE note FORCE ROW LEVEL SECURITY;
       ALTER TABLE note OWNER TO keeper; INSERT INTO note VALUES (1, 'a')`,
    ])
    const spec = world.spec(['forced'], { mode: 'online' })
    await startReplicating(world, engine, 'forced', spec)
    await using source = await world.session('source', 'forced')
    await source.run("INSERT INTO public.note VALUES (2, 'b'); UPDATE public.note SET t = 'c'")
    const ended = await cutOver(world, engine, 'forced')
    assert.equal(ended.phase, 'succeeded', ended.message)
  })

  hazard('tables without columns, and with computed ones, take changes', async (world, engine) => {
    await world.make('shapes', [
      `CREATE TABLE bare (); INSERT INTO bare DEFAULT VALUES;
       CREATE TABLE computed (a int GENERATED ALWAYS AS (1) STORED); INSERT INTO computed DEFAULT VALUES;
       CREATE TABLE counted (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
         b int, c int GENERATED ALWAYS AS (b * 2) STORED); INSERT INTO counted (b) VALUES (1), (2)`,
    ])
    const spec = world.spec(['shapes'], { mode: 'online' })
    await startReplicating(world, engine, 'shapes', spec)
    await using source = await world.session('source', 'shapes')
    await source.run(`INSERT INTO public.bare DEFAULT VALUES; INSERT INTO public.computed DEFAULT VALUES;
      INSERT INTO public.counted (b) VALUES (3); UPDATE public.counted SET b = 7 WHERE b = 1;
      DELETE FROM public.counted WHERE b = 2; TRUNCATE public.bare; INSERT INTO public.bare DEFAULT VALUES`)
    const ended = await cutOver(world, engine, 'shapes')
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using target = await world.session('target', 'shapes')
    assert.equal(
      await target.value(
        "SELECT (SELECT count(*) FROM public.bare) || ' ' || (SELECT count(*) FROM public.computed) || ' ' || (SELECT string_agg(t::text, ' ' ORDER BY t) FROM public.counted t)",
      ),
      '1 2 (1,7,14) (3,3,6)',
    )
  })
})
