/** Tables and columns that an application adds while changes flow are copied on request, with all rows. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { onlyLong, someOf } from '../../../../tests/long.ts'
import { until } from '../../../../tests/until.ts'
import { fingerprint } from '../testing/fingerprint.ts'
import { isEnded, type MigrationFixture, only, startReplicating } from '../testing/fixture.ts'
import { startLoad } from '../testing/load.ts'
import { migrationTests } from '../testing/migration-tests.ts'

const shop = `
  CREATE TABLE customer (id int PRIMARY KEY, name text, note text, old text);
  INSERT INTO customer SELECT g, 'c' || g, NULL, 'old' FROM generate_series(1, 2000) g;
  CREATE TABLE "Order" (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer int REFERENCES customer, amount int DEFAULT 1);
  INSERT INTO "Order" (customer) SELECT 1 + g % 2000 FROM generate_series(1, 3000) g;
  CREATE TABLE measure (at date, v int) PARTITION BY RANGE (at);
  CREATE TABLE measure_1 PARTITION OF measure FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
  INSERT INTO measure SELECT date '2020-01-01' + g, g FROM generate_series(0, 300) g;
  CREATE INDEX customer_by_note ON customer (note);
  CREATE FUNCTION price(n int) RETURNS int LANGUAGE sql AS 'SELECT n * 2'`

const release = `
  CREATE TYPE mood AS ENUM ('sad', 'ok');
  ALTER TABLE customer ADD COLUMN mood mood DEFAULT 'ok' NOT NULL, ADD COLUMN seen timestamptz DEFAULT now(),
    ADD COLUMN twice int GENERATED ALWAYS AS (id * 2) STORED, ADD COLUMN serial serial, DROP COLUMN old;
  UPDATE customer SET mood = 'sad' WHERE id % 5 = 0;
  ALTER TABLE customer ALTER mood DROP DEFAULT, ALTER note SET DEFAULT 'none', ADD CONSTRAINT positive CHECK (id > 0),
    ADD CONSTRAINT has_name CHECK (name <> '') NOT VALID;
  CREATE UNIQUE INDEX customer_by_name ON customer (name); DROP INDEX customer_by_note;
  ALTER TABLE "Order" ALTER amount TYPE text, ALTER amount SET NOT NULL;
  CREATE TABLE part (id serial PRIMARY KEY, "order" bigint REFERENCES "Order", unkeyed int);
  INSERT INTO part ("order") SELECT id FROM "Order" WHERE id < 500;
  CREATE TABLE no_key AS SELECT * FROM part;
  CREATE TABLE measure_2 PARTITION OF measure FOR VALUES FROM ('2021-01-01') TO ('2022-01-01');
  INSERT INTO measure SELECT date '2021-01-01' + g, g FROM generate_series(0, 300) g;
  ALTER TABLE measure ADD COLUMN unit text DEFAULT 'm';
  CREATE SEQUENCE counted; SELECT setval('counted', 41);
  CREATE VIEW moods AS SELECT mood, count(*) FROM customer GROUP BY mood;
  CREATE OR REPLACE FUNCTION price(n int) RETURNS int LANGUAGE sql AS 'SELECT n * 3';
  CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.note := 'stamped'; RETURN new; END $$;
  CREATE TRIGGER stamp BEFORE UPDATE ON customer FOR EACH ROW EXECUTE FUNCTION public.stamp();
  ALTER TABLE customer ENABLE ALWAYS TRIGGER stamp`

const writes: readonly string[] = [
  'INSERT INTO public."Order" (customer) VALUES (1 + (random() * 1999)::int)',
  "UPDATE public.customer SET name = name || '+' WHERE id = 1 + (random() * 1999)::int",
  "INSERT INTO public.measure (at, v) VALUES (date '2020-01-01' + (random() * 700)::int, 1)",
  'DELETE FROM public."Order" WHERE id = 1000 + (random() * 1000)::int',
]

describe('catching up with a source that was altered', () => {
  const hazard = migrationTests(13, 18)
  const variant = onlyLong(hazard)
  const subjects = [
    'tables',
    'columns',
    'indexes',
    'constraints',
    'triggers',
    'functions',
    'enums',
    'rows',
    'sequences',
  ]
  const assertAlike = async (fixture: MigrationFixture, database: string): Promise<void> => {
    const here = await fingerprint(fixture.source, database)
    const there = await fingerprint(fixture.target, database)
    for (const subject of subjects) assert.deepEqual(there[subject], here[subject], subject)
  }

  hazard('a release comes over under load, rows and all', async (fixture, engine) => {
    await fixture.make('shop', [shop])
    const spec = fixture.spec(['shop'], { mode: 'online' })
    await startReplicating(fixture, engine, 'shop', spec)
    const load = startLoad(fixture.source, 'shop', {
      perSecond: 100,
      statements: writes,
      endsWhenShutOut: true,
    })
    try {
      await using source = await fixture.session('source', 'shop')
      await source.run('SET search_path TO public')
      await source.run(release)
      const early = await fixture.until(
        engine,
        'shop',
        (seen) => isEnded(seen) || /would wait/.test(only(seen).message),
      )
      assert.match(only(early).message, /catch up/)
      await engine.cutover('shop', ['shop'])
      await fixture.until(
        engine,
        'shop',
        (seen) => isEnded(seen) || /The cutover waits: The structure/.test(only(seen).message),
      )
      await engine.catchUp('shop', ['shop'])
      const ended = only(await fixture.until(engine, 'shop', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
    } finally {
      await load.stop()
    }
    await assertAlike(fixture, 'shop')
    assert.deepEqual(await engine.traces('shop', spec, fixture.credentials), [])
  })

  variant('an index by which rows are not found is made and dropped', async (fixture, engine) => {
    await fixture.make('unsent', [
      'CREATE TABLE loose (a int NOT NULL, g int GENERATED ALWAYS AS (a * 2) STORED, t text)',
      'INSERT INTO loose SELECT g FROM generate_series(1, 100) g',
    ])
    const spec = fixture.spec(['unsent'], { mode: 'online', verify: 'counts' })
    await startReplicating(fixture, engine, 'unsent', spec)
    await using source = await fixture.session('source', 'unsent')
    await using target = await fixture.session('target', 'unsent')
    const isIndexed = async () =>
      (await target.value("SELECT pg_catalog.to_regclass('public.loose_by_g')")) !== undefined
    for (const [statement, expected] of [
      [
        'CREATE INDEX loose_by_g ON public.loose (a, g); CREATE TABLE public.late (a int PRIMARY KEY, b int, c int)',
        true,
      ],
      ['DROP INDEX public.loose_by_g; ALTER TABLE public.late DROP b', false],
    ] as const) {
      await source.run(statement)
      await engine.catchUp('unsent', ['unsent'])
      await until(async () => (await isIndexed()) === expected)
      await source.run("UPDATE public.loose SET t = coalesce(t, '') || 'x' WHERE a < 50")
    }
    await engine.cutover('unsent', ['unsent'])
    const ended = only(await fixture.until(engine, 'unsent', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    await assertAlike(fixture, 'unsent')
  })

  variant(
    'tables that are renamed, moved or detached come over, and what was altered besides',
    async (fixture, engine) => {
      await fixture.make('names', [
        `${shop}; CREATE TYPE kind AS ENUM ('it''s', 'second'); CREATE SCHEMA side; CREATE TABLE loose (a int, t text); INSERT INTO loose SELECT g FROM generate_series(1, 100) g;
       CREATE TABLE moved (id int PRIMARY KEY); CREATE DOMAIN level AS int; CREATE SEQUENCE counted; CREATE VIEW of_loose AS SELECT a FROM loose; CREATE INDEX loose_by_a ON loose (a);
       CREATE TABLE swapped (id int PRIMARY KEY, t text); INSERT INTO swapped VALUES (1, 'old');
       CREATE TABLE swapped_new (id int PRIMARY KEY, t text); INSERT INTO swapped_new VALUES (1, 'new'), (2, 'new')`,
      ])
      const spec = fixture.spec(['names'], { mode: 'online' })
      await startReplicating(fixture, engine, 'names', spec)
      // Nothing to catch up with is fine.
      await engine.catchUp('names', ['names'])
      await using source = await fixture.session('source', 'names')
      await source.run("ALTER TYPE public.kind ADD VALUE 'first' BEFORE 'second'")
      await source.run("ALTER TYPE public.kind ADD VALUE 'third'")
      await source.run(`SET search_path TO public; UPDATE customer SET note = 'before'; ALTER TABLE customer RENAME TO client; ALTER TABLE client ADD COLUMN more kind DEFAULT 'third', DROP COLUMN old;
      UPDATE client SET note = 'after' WHERE id < 100; ALTER TABLE loose SET SCHEMA side; ALTER TABLE side.loose RENAME TO "Odd one";
      ALTER TABLE moved SET SCHEMA side; INSERT INTO side.moved VALUES (1); ALTER DOMAIN level ADD CHECK (value > 0); ALTER SEQUENCE counted INCREMENT 7 CYCLE;
      CREATE OR REPLACE VIEW of_loose AS SELECT o.a, o.t FROM side."Odd one" o; ALTER TABLE client CLUSTER ON customer_by_note; ALTER TABLE client ALTER name SET STATISTICS 40, ALTER name SET STORAGE EXTERNAL;
      DELETE FROM side."Odd one" WHERE a < 10; ALTER TABLE measure_1 RENAME TO measure_first; INSERT INTO measure VALUES ('2020-01-01', 5);
      CREATE TABLE measure_2 PARTITION OF measure FOR VALUES FROM ('2021-01-01') TO ('2022-01-01'); ALTER TABLE measure DETACH PARTITION measure_first; INSERT INTO measure_first VALUES ('1999-01-01', 1);
      ALTER TABLE swapped RENAME TO swapped_old; ALTER TABLE swapped_new RENAME TO swapped; INSERT INTO swapped VALUES (3, 'late')`)
      await engine.catchUp('names', ['names'])
      await engine.cutover('names', ['names'])
      const ended = only(await fixture.until(engine, 'names', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
      // An end is one.
      await engine.catchUp('names', ['names'])
      await assertAlike(fixture, 'names')
      assert.deepEqual(await engine.traces('names', spec, fixture.credentials), [])
    },
  )

  hazard(
    'rows that an ALTER TABLE replaces are reported and come over, though the structure reads as before',
    async (fixture, engine) => {
      const made = (name: string, columns: string, values: string): string =>
        `CREATE TABLE ${name} (${columns}); INSERT INTO ${name} SELECT ${values} FROM generate_series(1, 50) g`
      await fixture.make('replaced', [
        made('computed', 'id int PRIMARY KEY, n int', 'g, g'),
        made('again', 'id int PRIMARY KEY, t text', "g, 'x'"),
        made('crossed', 'id int PRIMARY KEY, a int, b int', 'g, g, -g'),
        made('live', 'id int, t text', "g, 'live'"),
        made('staged', 'id int, t text', "g, 'staged'"),
        made('emptied', 'id int PRIMARY KEY, t text', 'g'),
        made('packed', 'id int PRIMARY KEY, t text', 'g'),
      ])
      const spec = fixture.spec(['replaced'], { mode: 'online', verify: 'counts' })
      await startReplicating(fixture, engine, 'replaced', spec)
      await using source = await fixture.session('source', 'replaced')
      await source.run('VACUUM FULL public.packed')
      await source.run(`SET search_path TO public; TRUNCATE emptied; INSERT INTO emptied VALUES (1);
        ALTER TABLE computed ALTER n TYPE int USING n + 1000;
        ALTER TABLE again DROP t; ALTER TABLE again ADD t text;
        ALTER TABLE crossed RENAME a TO c; ALTER TABLE crossed RENAME b TO a; ALTER TABLE crossed RENAME c TO b;
        ALTER TABLE live RENAME TO old; ALTER TABLE staged RENAME TO live; ALTER TABLE old RENAME TO staged`)
      await engine.cutover('replaced', ['replaced'])
      const held = await fixture.until(
        engine,
        'replaced',
        (seen) => isEnded(seen) || /The cutover waits: The structure/.test(only(seen).message),
      )
      const { message } = only(held)
      for (const said of [
        'public.computed was written anew',
        'public.again has under the name t other columns',
        'public.crossed has under the names a, b other columns',
        'public.live is another one',
        'public.staged is another one',
      ]) {
        assert.ok(message.includes(said), `${said}: ${message}`)
      }
      assert.doesNotMatch(message, /emptied|packed/)
      await engine.catchUp('replaced', ['replaced'])
      const ended = only(await fixture.until(engine, 'replaced', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
      await assertAlike(fixture, 'replaced')
    },
  )

  hazard('an offline migration has nothing to catch up with', async (fixture, engine) => {
    await fixture.make('still', ['CREATE TABLE one (id int)'])
    await engine.run('still', fixture.spec(['still']), fixture.credentials)
    await assert.rejects(engine.catchUp('still', ['still']), { number: 603114 })
    await fixture.until(engine, 'still', isEnded)
  })

  hazard('killed while it catches up, it goes on', async (fixture) => {
    for (const boundary of someOf(['published-anew', 'caught-up'], 2)) {
      const name = boundary.replace('-', '')
      await fixture.make(name, [shop])
      const spec = fixture.spec([name], { mode: 'online' })
      await using halting = fixture.open(boundary)
      await startReplicating(fixture, halting, name, spec)
      await using source = await fixture.session('source', name)
      await source.run(`SET search_path TO public; ${release}`)
      await halting.catchUp(name, [name])
      await fixture.until(halting, name, ({ worker }) => worker === 'lost')
      await using engine = fixture.open()
      await engine.run(name, spec, fixture.credentials)
      await engine.cutover(name, [name])
      const ended = only(await fixture.until(engine, name, isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
      await assertAlike(fixture, name)
      assert.deepEqual(await engine.traces(name, spec, fixture.credentials), [])
    }
  })
})
