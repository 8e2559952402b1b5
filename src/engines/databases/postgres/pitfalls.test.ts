/** Each known pitfall (facts A.7) as a named test against real servers. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { onlyLong, someOf } from '../../../../tests/long.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { DatabaseEngine, MigrationSpec } from '../engine.ts'
import {
  inPhase,
  isEnded,
  type MigrationFixture,
  only,
  openMigrationFixture,
} from '../testing/fixture.ts'
import { findServer, howToGetServers } from '../testing/servers.ts'
import { startProxy } from '../testing/switchable-proxy.ts'

const keyed = `CREATE TABLE note (id int PRIMARY KEY, t text);
  INSERT INTO note SELECT g, 'n' || g FROM generate_series(1, 200) g`
const unkeyed = 'CREATE TABLE no_key (a int); INSERT INTO no_key VALUES (1), (2)'

describe('pitfalls', () => {
  let opened: MigrationFixture | undefined
  before(async () => {
    if ([15, 18].every((major) => findServer(major === 15 ? 15 : 18) !== undefined)) {
      opened = await openMigrationFixture(15, 18)
    }
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
  })
  const pitfall = (
    title: string,
    body: (fixture: MigrationFixture, engine: DatabaseEngine) => Promise<void>,
  ): void => {
    test(title, async (t) => {
      if (!requireOrSkip(t, opened !== undefined, howToGetServers) || opened === undefined) return
      await using engine = opened.open()
      await body(opened, engine)
    })
  }
  const variant = onlyLong(pitfall)
  const replicating = async (
    fixture: MigrationFixture,
    engine: DatabaseEngine,
    migration: string,
    spec: MigrationSpec,
  ): Promise<void> => {
    await engine.run(migration, spec, fixture.credentials)
    await fixture.until(engine, migration, (seen) => isEnded(seen) || inPhase('replicating')(seen))
    assert.equal(
      only(await engine.observe(migration)).phase,
      'replicating',
      only(await engine.observe(migration)).message,
    )
  }
  const identityOf = async (fixture: MigrationFixture, database: string) => {
    await using session = await fixture.session('source', database)
    return await session.value("SELECT relreplident FROM pg_class WHERE relname = 'no_key'")
  }

  pitfall(
    '1: without consent no table is published that would refuse updates',
    async (fixture, engine) => {
      await fixture.make('p1', [keyed, unkeyed])
      const spec = fixture.spec(['p1'], { mode: 'online', setUpReplication: false })
      const survey = await engine.survey('p1', spec, fixture.credentials)
      assert.equal(survey.replication.kind, 'consent-needed')
      await engine.run('p1', spec, fixture.credentials)
      const ended = await fixture.until(engine, 'p1', isEnded)
      assert.equal(only(ended).phase, 'failed')
      assert.match(only(ended).message, /"no_key"/)
      await using session = await fixture.session('source', 'p1')
      await session.run('UPDATE public.no_key SET a = 3')
      assert.deepEqual(await engine.traces('p1', spec, fixture.credentials), [])
    },
  )

  pitfall(
    '1, 14: with consent updates go on, the identity is put back, and passwords are in no file, argument or environment',
    async (fixture, engine) => {
      await fixture.make('p1b', [keyed, unkeyed])
      const spec = fixture.spec(['p1b'], { mode: 'online' })
      await replicating(fixture, engine, 'p1b', spec)
      assert.equal(await identityOf(fixture, 'p1b'), 'f')
      const secrets = Object.values(fixture.credentials)
      const texts = readdirSync(join(fixture.folder, 'p1b')).map((name) =>
        readFileSync(join(fixture.folder, 'p1b', name), 'latin1'),
      )
      const { pid } = JSON.parse(readFileSync(join(fixture.folder, 'p1b', 'worker.json'), 'utf8'))
      for (const file of ['cmdline', 'environ'])
        texts.push(readFileSync(`/proc/${pid}/${file}`, 'latin1'))
      for (const text of texts) assert.ok(secrets.every((secret) => !text.includes(secret)))
      await using session = await fixture.session('source', 'p1b')
      await session.run('UPDATE public.no_key SET a = a + 10')
      await fixture.until(engine, 'p1b', (seen) => only(seen).counters.cdcUpdateCounter >= 2)
      await engine.cancel('p1b', ['p1b'])
      await fixture.until(engine, 'p1b', isEnded)
      assert.equal(await identityOf(fixture, 'p1b'), 'd')
    },
  )

  // Covered by `catch-up.wide.test.ts`, under load.
  variant(
    '2: a table altered at the source stops what is applied, is named, and can be caught up with',
    async (fixture, engine) => {
      await fixture.make('p2', [keyed])
      const spec = fixture.spec(['p2'], { mode: 'online' })
      await replicating(fixture, engine, 'p2', spec)
      await using session = await fixture.session('source', 'p2')
      await session.run(
        "ALTER TABLE public.note ADD COLUMN z int; INSERT INTO public.note VALUES (9999, 'x', 1)",
      )
      await fixture.until(
        engine,
        'p2',
        (seen) => isEnded(seen) || /would wait.*column z of public\.note/.test(only(seen).message),
      )
      await engine.catchUp('p2', ['p2'])
      await engine.cutover('p2', ['p2'])
      const ended = only(await fixture.until(engine, 'p2', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
      await using target = await fixture.session('target', 'p2')
      assert.equal(await target.value('SELECT z FROM public.note WHERE id = 9999'), '1')
      assert.deepEqual(await engine.traces('p2', spec, fixture.credentials), [])
    },
  )

  // Covered by the target that does not apply, in `source-in-use.wide.test.ts`.
  variant(
    '3: a conflict at the target stops the database and skips nothing',
    async (fixture, engine) => {
      await fixture.make('p3', [keyed])
      const spec = fixture.spec(['p3'], { mode: 'online' })
      await replicating(fixture, engine, 'p3', spec)
      await using target = await fixture.session('target', 'p3')
      await target.run("INSERT INTO public.note VALUES (5000, 'theirs')")
      await using source = await fixture.session('source', 'p3')
      await source.run("INSERT INTO public.note VALUES (5000, 'ours')")
      const ended = await fixture.until(engine, 'p3', isEnded)
      assert.equal(only(ended).phase, 'failed')
      assert.equal(await target.value('SELECT t FROM public.note WHERE id = 5000'), 'theirs')
      assert.deepEqual(await engine.traces('p3', spec, fixture.credentials), [])
    },
  )

  // Covered by `servers-away.test.ts`, through the plane.
  variant(
    '4: a source that is away leaves a pending clean-up, which is done when it is back',
    async (fixture, engine) => {
      await fixture.make('p4', [keyed, unkeyed])
      await using proxy = await startProxy(fixture.source.server.port)
      const spec = fixture.spec(['p4'], {
        mode: 'online',
        source: { ...fixture.source.address, port: proxy.port },
      })
      await replicating(fixture, engine, 'p4', spec)
      proxy.cut()
      await engine.cancel('p4', ['p4'])
      const waiting = await fixture.until(
        engine,
        'p4',
        ({ pendingCleanUps }) => pendingCleanUps.length > 0,
      )
      assert.equal(only(waiting).phase, 'canceling')
      assert.deepEqual(
        waiting.pendingCleanUps.map(({ side, kind }) => `${side} ${kind}`),
        ['source slot', 'source publication', 'source replica-identity'],
      )
      await assert.rejects(engine.forget('p4'))
      proxy.mend()
      const ended = await fixture.until(engine, 'p4', isEnded)
      assert.equal(only(ended).phase, 'canceled')
      assert.deepEqual(await engine.traces('p4', spec, fixture.credentials), [])
      assert.equal(await identityOf(fixture, 'p4'), 'd')
    },
  )

  variant(
    '4: servers away for a moment in the online phase are taken up again',
    async (fixture, engine) => {
      await fixture.make('p4b', [keyed])
      await using proxy = await startProxy(fixture.source.server.port)
      const spec = fixture.spec(['p4b'], {
        mode: 'online',
        source: { ...fixture.source.address, port: proxy.port },
      })
      await replicating(fixture, engine, 'p4b', spec)
      proxy.cut()
      await fixture.until(engine, 'p4b', (seen) => /does not answer/.test(only(seen).message))
      await using session = await fixture.session('source', 'p4b')
      await session.run("INSERT INTO public.note VALUES (7000, 'meanwhile')")
      proxy.mend()
      await fixture.until(engine, 'p4b', (seen) => only(seen).counters.cdcInsertCounter >= 1)
      await engine.cutover('p4b', ['p4b'])
      assert.equal(only(await fixture.until(engine, 'p4b', isEnded)).phase, 'succeeded')
    },
  )

  pitfall(
    '6: row security and rights are reported before, table by table',
    async (fixture, engine) => {
      await fixture.make('p6', [
        keyed,
        `CREATE TABLE hidden (a int); ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
       CREATE ROLE p6 LOGIN PASSWORD 'p6'; GRANT pg_read_all_data TO p6`,
      ])
      const spec = fixture.spec(['p6'], { mode: 'online' })
      const plain = { ...spec, source: { ...spec.source, user: 'p6' } }
      const report = await engine.validate(plain, { ...fixture.credentials, sourcePassword: 'p6' })
      assert.equal(report.state, 'Failed')
      const messages = [...report.server, ...(report.databases[0]?.findings ?? [])]
        .filter(({ state }) => state === 'Failed')
        .map(({ type }) => type)
      assert.deepEqual(messages, ['LogicalReplication', 'RowSecurity', 'SourceOwnership'])
    },
  )

  pitfall('6: users that are no superusers migrate offline', async (fixture, engine) => {
    await using server = await fixture.session('source', 'postgres')
    await server.run("CREATE ROLE p6b LOGIN PASSWORD 'p6b'")
    await using target = await fixture.session('target', 'postgres')
    await target.run("CREATE ROLE p6b LOGIN CREATEDB PASSWORD 'p6b'")
    await fixture.make('p6b', [
      `SET ROLE p6b; RESET ROLE; GRANT CREATE ON SCHEMA public TO p6b; SET ROLE p6b; ${keyed}`,
    ])
    await server.run('ALTER DATABASE p6b OWNER TO p6b')
    const spec = fixture.spec(['p6b'], { roles: false })
    const plain = {
      ...spec,
      source: { ...spec.source, user: 'p6b' },
      target: { ...spec.target, user: 'p6b' },
    }
    const passwords = { sourcePassword: 'p6b', targetPassword: 'p6b' }
    await engine.run('p6b', plain, passwords)
    const ended = await fixture.until(engine, 'p6b', isEnded)
    assert.equal(only(ended).phase, 'succeeded', only(ended).message)
  })

  variant('7: time-outs set on the database and the role stop nothing', async (fixture, engine) => {
    await fixture.make('p7', [
      `CREATE TABLE wide (id int PRIMARY KEY, t text);
       INSERT INTO wide SELECT g, repeat(md5(g::text), 30) FROM generate_series(1, 20000) g`,
      `ALTER DATABASE p7 SET statement_timeout TO '3ms'; ALTER DATABASE p7 SET idle_in_transaction_session_timeout TO '3ms'`,
    ])
    await engine.run('p7', fixture.spec(['p7']), fixture.credentials)
    const ended = await fixture.until(engine, 'p7', isEnded)
    assert.equal(only(ended).phase, 'succeeded', only(ended).message)
  })

  pitfall(
    'a source that an earlier cutover has shut comes over open, with its other settings',
    async (fixture, engine) => {
      await fixture.make('shut', [
        keyed,
        `ALTER DATABASE shut SET work_mem TO '5MB';
         CREATE ROLE looker; ALTER ROLE looker IN DATABASE shut SET default_transaction_read_only TO on`,
      ])
      const once = fixture.spec(['shut'], { mode: 'online', fence: 'stay' })
      await replicating(fixture, engine, 'shut1', once)
      await engine.cutover('shut1', ['shut'])
      assert.equal(only(await fixture.until(engine, 'shut1', isEnded)).phase, 'succeeded')
      const again = [
        ['shut2', 'offline'],
        ['shut3', 'online'],
      ] as const
      for (const [migration, mode] of someOf(again, 2, 1)) {
        const spec = fixture.spec(['shut'], { mode, fence: 'stay', overwrite: true })
        await engine.run(migration, spec, fixture.credentials)
        await engine.cutover(migration, ['shut']).catch(() => undefined)
        const ended = await fixture.until(engine, migration, isEnded)
        assert.equal(only(ended).phase, 'succeeded', only(ended).message)
        await using target = await fixture.session('target', 'shut')
        assert.deepEqual(
          await target.rows(
            `SELECT setrole::regrole::text AS role, setconfig AS settings FROM pg_db_role_setting
             JOIN pg_database d ON d.oid = setdatabase WHERE datname = 'shut' ORDER BY setrole`,
          ),
          [
            { role: '-', settings: ['work_mem=5MB'] },
            { role: 'looker', settings: ['default_transaction_read_only=on'] },
          ],
        )
      }
    },
  )

  variant('8: a log kept without bound is warned of', async (fixture, engine) => {
    await fixture.make('p8', [keyed])
    const report = await engine.validate(
      fixture.spec(['p8'], { mode: 'online' }),
      fixture.credentials,
    )
    assert.equal(report.server.find(({ type }) => type === 'WalRetention')?.state, 'Warning')
    assert.equal(report.state, 'Warning')
  })

  variant('9: the target reaches the source at an address of its own', async (fixture, engine) => {
    await fixture.make('p9', [keyed])
    await using proxy = await startProxy(fixture.source.server.port)
    const spec = fixture.spec(['p9'], {
      mode: 'online',
      sourceFromTarget: { host: '127.0.0.1', port: proxy.port },
    })
    await replicating(fixture, engine, 'p9', spec)
    await using target = await fixture.session('target', 'p9')
    const text = (await target.value('SELECT subconninfo FROM pg_subscription')) ?? ''
    assert.match(text, new RegExp(`port=${proxy.port}`))
    await engine.cutover('p9', ['p9'])
    await fixture.until(engine, 'p9', isEnded)
    assert.equal(await target.value('SELECT count(*) FROM pg_subscription'), '0')
  })

  variant(
    'rows larger than any buffer, and empty ones, pass in bounded memory',
    async (fixture, engine) => {
      await fixture.make('large', [
        `CREATE TABLE large (id int PRIMARY KEY, t text);
       INSERT INTO large SELECT g, repeat(md5(g::text), 1200000) FROM generate_series(1, 4) g;
       INSERT INTO large SELECT g, '' FROM generate_series(5, 5000) g`,
        'CREATE TABLE bare (); INSERT INTO bare SELECT FROM generate_series(1, 1000)',
      ])
      // Other tests compare contents. Of 154 MB that takes longer than all else here.
      const spec = fixture.spec(['large'], { verify: 'counts' })
      await engine.run('large', spec, fixture.credentials)
      let peakBytes = 0
      const ended = await fixture.until(engine, 'large', (seen) => {
        const { pid } = JSON.parse(
          readFileSync(join(fixture.folder, 'large', 'worker.json'), 'utf8'),
        )
        if (seen.worker === 'running' && existsSync(`/proc/${pid}/status`)) {
          const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
          peakBytes = Math.max(peakBytes, Number(peak ?? 0) * 1024)
        }
        return isEnded(seen)
      })
      assert.equal(only(ended).phase, 'succeeded', only(ended).message)
      assert.equal(only(ended).verified?.rows, 6000)
      assert.ok(peakBytes > 0 && peakBytes < 200e6, `the worker took ${peakBytes} bytes`)
    },
  )

  variant('a database in an encoding of one byte comes over unchanged', async (fixture, engine) => {
    for (const side of ['source'] as const) {
      await using server = await fixture.session(side, 'postgres')
      await server.run(
        "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'",
      )
    }
    await using source = await fixture.session('source', 'latin')
    await source.run(
      "CREATE TABLE public.wörter (t text); INSERT INTO public.wörter VALUES ('größer'), (E'\\\\ tab\\t')",
    )
    await engine.run('latin', fixture.spec(['latin']), fixture.credentials)
    const ended = await fixture.until(engine, 'latin', isEnded)
    assert.equal(only(ended).phase, 'succeeded', only(ended).message)
    await using target = await fixture.session('target', 'latin')
    const sum = 'SELECT sum(hashtext(t)) FROM public.wörter'
    assert.equal(await target.value(sum), await source.value(sum))
    assert.equal(await target.value('SHOW server_encoding'), 'LATIN1')
  })

  pitfall('places for what catching up copies are counted too', async (fixture, engine) => {
    await using target = await fixture.session('target', 'postgres')
    const places = Number(await target.value('SHOW max_logical_replication_workers'))
    const told = async (count: number): Promise<string> => {
      const names = Array.from({ length: count }, (_, at) => `absent ${at}`)
      const spec = fixture.spec(names, { mode: 'online' })
      const { server } = await engine.validate(spec, fixture.credentials)
      return JSON.stringify(server.find(({ type }) => type === 'LogicalReplication')?.messages)
    }
    assert.doesNotMatch(await told(places - 1), /_workers is/)
    assert.match(await told(places), /Warning[^}]*_workers is 16: catching up/)
    assert.match(await told(places + 1), /Failed[^}]*_workers is 16 and must be at least 17/)
  })

  variant('a function of the older extension that needs a search path', async (fixture, engine) => {
    await fixture.make('places', [
      `CREATE EXTENSION earthdistance CASCADE;
       CREATE TABLE place (id int PRIMARY KEY, lat float8, lon float8);
       INSERT INTO place SELECT g, g, -g FROM generate_series(1, 80) g;
       CREATE TABLE spot (lat float8, lon float8, at point); INSERT INTO spot VALUES (1, 2, point(1, 2));
       CREATE INDEX ON place USING gist (ll_to_earth(lat, lon)); CREATE INDEX ON spot USING gist (ll_to_earth(lat, lon));
       CREATE FUNCTION own(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2'; CREATE INDEX ON place (own(id));
       CREATE MATERIALIZED VIEW doubled AS SELECT own(id) FROM place`,
    ])
    const spec = fixture.spec(['places'], { mode: 'online' })
    const report = await engine.validate(spec, fixture.credentials)
    assert.notEqual(report.state, 'Failed', JSON.stringify(report))
    assert.match(JSON.stringify(report), /filled anew at the cutover[^"]*public\.doubled/)
    await replicating(fixture, engine, 'places', spec)
    await using source = await fixture.session('source', 'places')
    await source.run(
      "SET search_path TO public; UPDATE spot SET at = '(3, 4)'; DELETE FROM place WHERE id = 5",
    )
    await engine.cutover('places', ['places'])
    const ended = await fixture.until(engine, 'places', isEnded)
    assert.equal(only(ended).phase, 'succeeded', only(ended).message)
    await using target = await fixture.session('target', 'places')
    assert.equal(
      await target.value(
        "SELECT count(*) || ' ' || (SELECT at FROM public.spot) FROM public.place",
      ),
      '79 (3,4)',
    )
  })

  pitfall(
    'what needs the search path of the application is reported before',
    async (fixture, engine) => {
      const blind = (name: string, body: string, more = '') =>
        `CREATE FUNCTION ${name}(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE ${more} AS $$ BEGIN ${body} END $$`
      await fixture.make('blind', [
        blind('inner_one', 'RETURN upper(t);'),
        blind('outer_one', 'RETURN inner_one(t);'),
        blind('sound_one', 'RETURN inner_one(t);', 'SET search_path TO public'),
        `CREATE DOMAIN loud AS text CHECK (outer_one(value) = value);
       CREATE TABLE note (t text, n int, u text GENERATED ALWAYS AS (sound_one(t)) STORED, CHECK (sound_one(t) <> 'X'));
       CREATE INDEX sound_index ON note (sound_one(t));
       CREATE TABLE shouted (w loud); INSERT INTO shouted VALUES ('A'); INSERT INTO note VALUES ('a')`,
        `CREATE INDEX blind_index ON note (outer_one(t));
       CREATE INDEX blind_part ON note (n) WHERE outer_one(t) = 'A';
       ALTER TABLE note ADD CONSTRAINT blind_check CHECK (outer_one(t) <> 'X');
       ALTER TABLE note ADD COLUMN v text GENERATED ALWAYS AS (outer_one(t)) STORED;
       CREATE VIEW seen AS SELECT outer_one(t) FROM note; CREATE MATERIALIZED VIEW kept AS SELECT * FROM seen;
       CREATE TABLE empty_one (t text); CREATE INDEX never_met ON empty_one (outer_one(t))`,
      ])
      const report = await engine.validate(fixture.spec(['blind']), fixture.credentials)
      const found = report.databases[0]?.findings.find(({ type }) => type === 'SearchPath')
      assert.equal(found?.state, 'Failed')
      const said = JSON.stringify(found?.messages)
      for (const part of [
        'blind_index',
        'blind_part',
        'blind_check',
        'column v',
        'view public.kept',
        'domain public.loud',
      ]) {
        assert.ok(said.includes(part), `${part}: ${said}`)
      }
      assert.match(said, /inner_one.* does not exist/)
      assert.doesNotMatch(said, /sound_index|column u|never_met/)
      // What others wrote runs with the rights of whoever reads, so it is only named.
      await using source = await fixture.session('source', 'blind')
      await source.run('CREATE ROLE stranger; GRANT CREATE ON SCHEMA public TO stranger')
      for (const [made, dropped] of [
        [
          'ALTER FUNCTION public.inner_one OWNER TO stranger',
          'ALTER FUNCTION public.inner_one OWNER TO postgres',
        ],
        [
          `SET ROLE stranger; CREATE MATERIALIZED VIEW public.strange AS SELECT public.sound_one('a'); RESET ROLE`,
          'DROP MATERIALIZED VIEW public.strange',
        ],
      ] as const) {
        await source.run(made)
        const named = await engine.validate(fixture.spec(['blind']), fixture.credentials)
        const warned = named.databases[0]?.findings.find(({ type }) => type === 'SearchPath')
        assert.equal(warned?.state, 'Warning', made)
        assert.match(JSON.stringify(warned?.messages), /not tried.*blind_index/)
        await source.run(dropped)
      }
      // Told rightly: it fails.
      await engine.run('blind', fixture.spec(['blind']), fixture.credentials)
      const ended = await fixture.until(engine, 'blind', isEnded)
      assert.equal(only(ended).phase, 'failed')
      assert.match(only(ended).message, /inner_one/)
      // Helped as it says, it is moved.
      await source.run('ALTER FUNCTION public.outer_one SET search_path TO public')
      const mended = await engine.validate(fixture.spec(['blind']), fixture.credentials)
      assert.notEqual(mended.state, 'Failed', JSON.stringify(mended))
      await engine.run('mended', fixture.spec(['blind']), fixture.credentials)
      const moved = await fixture.until(engine, 'mended', isEnded)
      assert.equal(only(moved).phase, 'succeeded', only(moved).message)
    },
  )
})

test('a source newer than the client programs is refused, and not begun', async (t) => {
  if (!requireOrSkip(t, findServer(18) !== undefined, howToGetServers)) return
  await using fixture = await openMigrationFixture(18, 18)
  await using engine = fixture.open()
  const { clientMajor = 0 } = await engine.describe()
  if (!requireOrSkip(t, clientMajor < 18, 'only with client programs older than 18')) return
  await fixture.make('newer', [keyed])
  const spec = fixture.spec(['newer'])
  const report = await engine.validate(spec, fixture.credentials)
  assert.equal(report.server.find(({ type }) => type === 'ClientPrograms')?.state, 'Failed')
  await engine.run('newer', spec, fixture.credentials)
  const ended = await fixture.until(engine, 'newer', isEnded)
  assert.equal(only(ended).number, 603400)
  assert.deepEqual(await engine.traces('newer', spec, fixture.credentials), [])
})

test('a source without logical replication needs a restart once its settings are written', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using fixture = await openMigrationFixture(15, 15, { wal_level: 'replica' })
  await using engine = fixture.open()
  await fixture.make('level', [keyed])
  const spec = fixture.spec(['level'], { mode: 'online' })
  const access = { address: fixture.source.address, password: fixture.source.password }
  const before = await engine.survey('level', spec, fixture.credentials)
  assert.equal(before.replication.kind, 'consent-needed')
  assert.equal((await engine.setUpReplication(access)).kind, 'restart-needed')
  const written = await engine.survey('level', spec, fixture.credentials)
  assert.equal(written.replication.kind, 'restart-needed')
})
