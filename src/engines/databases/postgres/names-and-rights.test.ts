/** Names that must be quoted, users with few rights, and servers that are not what they claim to be. */

import assert from 'node:assert/strict'
import { chownSync, mkdirSync, statSync } from 'node:fs'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { openWay } from '#outbound/testing/ways.ts'
import { isLong, onlyLong, someOf } from '../../../../tests/long.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { DatabaseEngine, MigrationSpec } from '../engine.ts'
import {
  isEnded,
  type MigrationFixture,
  only,
  openMigrationFixture,
  startReplicating,
} from '../testing/fixture.ts'
import { migrationTests } from '../testing/migration-tests.ts'
import { findServer, howToGetServers } from '../testing/servers.ts'
import { readTables } from './catalog.ts'
import { connect, quoteName, type Session, settingClause } from './connect.ts'
import { copyRoles } from './roles.ts'
import { fingerprintsOf } from './verify.ts'

const keyed = `CREATE TABLE note (id int PRIMARY KEY, t text);
  INSERT INTO note SELECT g, 'n' || g FROM generate_series(1, 200) g`

describe('names and rights', () => {
  const check = migrationTests(15, 18)
  const variant = onlyLong(check)
  const finish = async (
    fixture: MigrationFixture,
    engine: DatabaseEngine,
    migration: string,
    spec: MigrationSpec,
  ) => {
    await engine.run(migration, spec, fixture.credentials)
    if (spec.mode === 'online') await engine.cutover(migration, spec.databases)
    return only(await fixture.until(engine, migration, isEnded))
  }

  check(
    "what the owner of a database puts before the system's names is not run",
    async (fixture, engine) => {
      await fixture.make('hers', [keyed])
      await using source = await fixture.session('source', 'hers')
      await source.run(
        `CREATE ROLE owner_only; ALTER DATABASE hers OWNER TO owner_only; SET ROLE owner_only; CREATE SCHEMA hers;
         CREATE FUNCTION hers.promote() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
           IF current_user <> 'owner_only' THEN ALTER ROLE owner_only SUPERUSER; END IF; END $$;
         CREATE FUNCTION hers.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
           PERFORM hers.promote(); RETURN pg_catalog.set_config($1, $2, $3); END $$;
         CREATE FUNCTION hers.lower(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
           PERFORM hers.promote(); RETURN pg_catalog.lower($1); END $$;
         CREATE FUNCTION hers.same(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
           PERFORM hers.promote(); RETURN $1 OPERATOR(pg_catalog.=) $2; END $$;
         CREATE OPERATOR hers.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hers.same);
         ALTER DATABASE hers SET search_path TO hers, pg_catalog`,
      )
      const ended = await finish(fixture, engine, 'hers', fixture.spec(['hers']))
      assert.equal(ended.phase, 'succeeded', ended.message)
      for (const side of ['source', 'target'] as const) {
        await using server = await fixture.session(side, 'postgres')
        const query = "SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = 'owner_only'"
        assert.equal(await server.value(query), 'false', side)
      }
    },
  )

  check(
    'a function in an index or in statistics is not run with the rights of the migration',
    async (fixture, engine) => {
      await fixture.make('planned', [
        `CREATE ROLE sly_one; GRANT CREATE ON SCHEMA public TO sly_one; SET ROLE sly_one;
         CREATE FUNCTION sly(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
           IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN
             PERFORM pg_catalog.lo_export(oid, 'sly_' || $1) FROM pg_catalog.pg_largeobject_metadata;
           END IF; RETURN $1; END $$;
         CREATE OPERATOR # (RIGHTARG = int, FUNCTION = sly)`,
        `${keyed}; CREATE INDEX ON note ((id + public.sly(1)));
         ALTER TABLE note ADD g int GENERATED ALWAYS AS (id * 2) STORED`,
        'CREATE TABLE by_operator (id int PRIMARY KEY); CREATE INDEX ON by_operator (id) WHERE id > # 2',
        'CREATE TABLE known (id int PRIMARY KEY); CREATE STATISTICS known_id ON (id + sly(3)) FROM known',
        'CREATE UNLOGGED TABLE loose (id int); CREATE INDEX ON loose ((id + sly(4))); INSERT INTO loose VALUES (1)',
        'CREATE TABLE bound (id int PRIMARY KEY, CHECK (id > sly(5)))',
        'RESET ROLE; SELECT pg_catalog.lo_create(0); ALTER DATABASE planned SET constraint_exclusion TO on',
      ])
      for (const mode of someOf(['offline', 'online'] as const, 2, 1)) {
        const spec = fixture.spec(['planned'], { mode, overwrite: true })
        const report = await engine.validate(spec, fixture.credentials)
        const warned = report.databases[0]?.findings.find((one) => one.type === 'FunctionsOfOthers')
        const said = JSON.stringify(warned)
        assert.match(said, /sly.* of sly_one in the constraint bound_id_check/)
        assert.match(said, /sly.* of sly_one in the index public.note_/)
        const ended = await finish(fixture, engine, `planned${mode}`, spec)
        assert.equal(ended.phase, 'succeeded', ended.message)
        assert.equal(ended.verified?.rows, 201)
      }
      const ran = `SELECT pg_catalog.string_agg(f, ' ' ORDER BY f) FROM pg_catalog.pg_ls_dir('.') f WHERE f ~ '^sly_'`
      await using source = await fixture.session('source', 'planned')
      assert.equal(await source.value(ran), undefined)
      // Constraints are computed where rows are written, by whoever writes them.
      await using target = await fixture.session('target', 'planned')
      assert.match((await target.value(ran)) ?? '', /^(sly_5)?$/)
      const note = (await readTables(source)).find(({ table }) => table === 'note')
      assert.ok(note !== undefined && !note.queried)
      const sums = () =>
        Promise.all([source, target].map((side) => fingerprintsOf(side, [note], 'checksums')))
      for (const [change, isSame] of [
        ['', true],
        [
          "UPDATE public.note SET t = CASE id WHEN 1 THEN 'n2' ELSE 'n1' END WHERE id IN (1, 2)",
          false,
        ],
        ["UPDATE public.note SET t = 'n' || id", true],
        ['UPDATE public.note SET t = NULL WHERE id = 7', false],
      ] as const) {
        await target.run(change)
        const [here, there] = await sums()
        assert.equal(isDeepStrictEqual(here, there), isSame, change)
      }
    },
  )

  variant(
    'the database that clients connect to first is moved like any other',
    async (fixture, engine) => {
      const connected = async (side: 'source' | 'target'): Promise<string> => {
        await using session = await fixture.session(side, 'postgres')
        return (
          (await session.value("SELECT pg_catalog.to_regclass('public.first')::text")) ?? 'none'
        )
      }
      {
        await using source = await fixture.session('source', 'postgres')
        await source.run('CREATE TABLE public.first (id int PRIMARY KEY)')
      }
      for (const mode of someOf(['offline', 'online'] as const, 2, 1)) {
        const spec = fixture.spec(['postgres'], { mode, overwrite: true })
        const ended = await finish(fixture, engine, `first${mode}`, spec)
        assert.equal(ended.phase, 'succeeded', ended.message)
        assert.equal(ended.attempt, 1)
        assert.equal(await connected('target'), 'public.first')
        assert.deepEqual(await engine.traces(`first${mode}`, spec, fixture.credentials), [])
      }
      // If there was no database before, a cancelled migration leaves an empty one: without any, nobody could
      // connect as usual.
      {
        await using target = await fixture.session('target', 'template1')
        await target.run('DROP DATABASE postgres WITH (FORCE)')
      }
      const spec = fixture.spec(['postgres'], { mode: 'online' })
      await startReplicating(fixture, engine, 'firstoff', spec)
      await engine.cancel('firstoff', ['postgres'], { dropTarget: true })
      assert.equal(only(await fixture.until(engine, 'firstoff', isEnded)).phase, 'canceled')
      assert.equal(await connected('target'), 'none')
      await using source = await fixture.session('source', 'postgres')
      await source.run('DROP TABLE public.first')
    },
  )

  check('a server is not migrated into itself', async (fixture, engine) => {
    await fixture.make('itself', [keyed])
    const spec = fixture.spec(['itself'], { target: fixture.source.address, overwrite: true })
    const secrets = { ...fixture.credentials, targetPassword: fixture.source.password }
    const report = await engine.validate(spec, secrets)
    assert.equal(report.state, 'Failed')
    await engine.run('itself', spec, secrets)
    const ended = only(await fixture.until(engine, 'itself', isEnded))
    assert.equal(ended.phase, 'failed')
    assert.match(ended.message, /same server/)
    await using source = await fixture.session('source', 'itself')
    assert.equal(await source.value('SELECT count(*) FROM public.note'), '200')
  })

  const long = 'Ü'.repeat(31)
  for (const [index, database] of [
    `o'Dd "name" = \\x.é`,
    // The first name has all that is odd in the others. The schema of all is as long as a name can be.
    ...(isLong ? ['postgresql://nowhere/else', '-d', `${long}x`, 'Upper Case.DOT'] : []),
  ].entries()) {
    check(`a database called ${database}`, async (fixture, engine) => {
      const role = `Role "${index}" o'X`
      const [schema, table, column] = [`S.${long}`, `T"${long}`, `c'\\ "${index}`].map(quoteName)
      await fixture.make(database, [
        `CREATE SCHEMA ${schema}; CREATE ROLE ${quoteName(role)};
         CREATE TABLE ${schema}.${table} (${column} int GENERATED BY DEFAULT AS IDENTITY, "Select" text);
         INSERT INTO ${schema}.${table} ("Select") VALUES ('a'), (E'\\\\.'), (NULL);
         CREATE SEQUENCE ${schema}."Se'q"; SELECT nextval(${`'${schema?.replaceAll("'", "''")}."Se''q"'`});
         ALTER TABLE ${schema}.${table} OWNER TO ${quoteName(role)};
         ALTER ROLE ${quoteName(role)} IN DATABASE ${quoteName(database)} SET "My.Setting" TO 'a''b\\';
         ALTER DATABASE ${quoteName(database)} SET search_path TO ${schema}, public`,
      ])
      for (const mode of someOf(['offline', 'online'] as const, 2, index)) {
        const migration = `n${index}${mode}`
        const spec = fixture.spec([database], { mode, overwrite: true })
        const report = await engine.validate(spec, fixture.credentials)
        assert.notEqual(report.state, 'Failed', JSON.stringify(report))
        const ended = await finish(fixture, engine, migration, spec)
        assert.equal(ended.phase, 'succeeded', ended.message)
        assert.equal(ended.attempt, 1)
        assert.deepEqual(await engine.traces(migration, spec, fixture.credentials), [])
        const shape = `SELECT (SELECT count(*) FROM ${schema}.${table}) || ' ' ||
          (SELECT last_value FROM ${schema}."Se'q") || ' ' ||
          (SELECT string_agg(setrole::regrole || setconfig::text, ' ' ORDER BY setrole::regrole::text) FROM pg_db_role_setting
            JOIN pg_database d ON d.oid = setdatabase WHERE datname = current_database())`
        await using source = await fixture.session('source', database)
        await using target = await fixture.session('target', database)
        assert.equal(await target.value(shape), await source.value(shape))
      }
    })
  }

  check('no database is left that was not marked yet', async (fixture, engine) => {
    await fixture.make('unmarked', [keyed])
    const spec = fixture.spec(['unmarked'])
    await using killed = fixture.open('created')
    await killed.run('unmarked', spec, fixture.credentials)
    await fixture.until(killed, 'unmarked', ({ worker }) => worker === 'lost')
    await engine.cancel('unmarked', ['unmarked'])
    await engine.run('unmarked', spec, fixture.credentials)
    assert.equal(only(await fixture.until(engine, 'unmarked', isEnded)).phase, 'canceled')
    assert.deepEqual(await engine.traces('unmarked', spec, fixture.credentials), [])
  })

  check('called off at any moment, nothing is left', async (fixture, engine) => {
    await fixture.make('moments', [
      keyed,
      'CREATE TABLE no_key (a int); INSERT INTO no_key VALUES (1)',
    ])
    for (const [at, way] of (['offline', 'online', 'cutover'] as const).entries()) {
      for (const step of someOf([0, 1, 2, 3, 4, 5, 6, 7], 8, 3 * at)) {
        const migration = `m${way}${step}`
        const mode = way === 'offline' ? 'offline' : 'online'
        const spec = fixture.spec(['moments'], { mode, overwrite: true, fence: 'stay' })
        await engine.run(migration, spec, fixture.credentials)
        if (way === 'cutover') await engine.cutover(migration, ['moments'])
        await new Promise((done) => setTimeout(done, 150 * step))
        await engine.cancel(migration, ['moments'], { dropTarget: true })
        const ended = only(await fixture.until(engine, migration, isEnded))
        assert.ok(['canceled', 'succeeded'].includes(ended.phase), ended.message)
        assert.deepEqual(await engine.traces(migration, spec, fixture.credentials), [])
        await using source = await fixture.session('source', 'moments')
        assert.equal(
          await source.value("SELECT relreplident FROM pg_class WHERE relname = 'no_key'"),
          'd',
        )
        // The database is closed only if it was cut over.
        assert.equal(
          await source.value(
            'SELECT count(*) FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase WHERE datname = current_database()',
          ),
          ended.phase === 'succeeded' && way !== 'offline' ? '1' : '0',
        )
        await source.run('ALTER DATABASE moments RESET default_transaction_read_only')
      }
    }
  })

  variant(
    'a tablespace is left behind, a limit of connections goes along',
    async (fixture, engine) => {
      await using server = await fixture.session('source', 'postgres')
      const folder = (await server.value('SHOW data_directory')) ?? ''
      const place = `${folder}/../fast`
      mkdirSync(place)
      const { uid, gid } = statSync(folder)
      chownSync(place, uid, gid)
      await server.run(`CREATE TABLESPACE fast LOCATION '${folder.replace(/\/[^/]*$/, '')}/fast'`)
      await fixture.make('placed', [
        `${keyed}; ALTER TABLE note SET TABLESPACE fast; CREATE INDEX ON note (t) TABLESPACE fast;
       ALTER DATABASE placed SET default_tablespace TO fast; ALTER DATABASE placed CONNECTION LIMIT 1`,
      ])
      const ended = await finish(
        fixture,
        engine,
        'placed',
        fixture.spec(['placed'], { mode: 'online' }),
      )
      assert.equal(ended.phase, 'succeeded', ended.message)
      await using target = await fixture.session('target', 'placed')
      await target.run('CREATE TABLE public.more (a int)')
      assert.equal(
        await target.value("SELECT datconnlimit FROM pg_database WHERE datname = 'placed'"),
        '1',
      )
    },
  )

  variant('a locale of another kind comes over', async (fixture, engine) => {
    await using server = await fixture.session('source', 'postgres')
    await server.run(
      "CREATE DATABASE sorted TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'de-u-co-phonebk' ENCODING 'UTF8' LOCALE 'C'",
    )
    await using source = await fixture.session('source', 'sorted')
    await source.run(
      "CREATE TABLE public.word (t text PRIMARY KEY); INSERT INTO public.word VALUES ('Az'), ('Ä'), ('Ad')",
    )
    const ended = await finish(fixture, engine, 'sorted', fixture.spec(['sorted']))
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using target = await fixture.session('target', 'sorted')
    const order = "SELECT string_agg(t, ' ' ORDER BY t) FROM public.word"
    assert.equal(await target.value(order), await source.value(order))
  })

  check('passwords are not in the log of the target', async (fixture, engine) => {
    await using target = await fixture.session('target', 'postgres')
    for (const [name, value] of [
      ['log_statement', 'all'],
      ['logging_collector', 'on'],
      ['log_min_duration_statement', '0'],
    ]) {
      await target.run(`ALTER SYSTEM SET ${name} TO '${value}'`)
    }
    await fixture.target.server.restart()
    await fixture.make('logged', [keyed])
    const spec = fixture.spec(['logged'], { mode: 'online' })
    const ended = await finish(fixture, engine, 'logged', spec)
    assert.equal(ended.phase, 'succeeded', ended.message)
    // A failed statement would be shown in full.
    const nowhere = { ...spec, overwrite: true, sourceFromTarget: { host: '127.0.0.1', port: 1 } }
    const report = await engine.validate(nowhere, fixture.credentials)
    const found = report.server.find(({ type }) => type === 'TargetReachesSource')
    assert.match(JSON.stringify(found), /603000/)
    await using after = await fixture.session('target', 'postgres')
    const log = await after.value('SELECT pg_read_file(pg_current_logfile())')
    assert.match(log ?? '', /RENAME TO/)
    assert.ok(!log?.includes(fixture.credentials.sourcePassword))
    assert.ok(!log?.includes('SCRAM-SHA-256'))
    for (const name of ['log_statement', 'logging_collector', 'log_min_duration_statement']) {
      await after.run(`ALTER SYSTEM RESET ${name}`)
    }
    await fixture.target.server.restart()
  })

  variant('a template at the target is not dropped', async (fixture, engine) => {
    await fixture.make('model', [keyed])
    await fixture.make('model', ['CREATE TABLE theirs (a int)'], 'target')
    await using target = await fixture.session('target', 'postgres')
    await target.run('ALTER DATABASE model IS_TEMPLATE true')
    const spec = fixture.spec(['model'], { overwrite: true })
    const ended = await finish(fixture, engine, 'model', spec)
    assert.equal(ended.phase, 'failed')
    assert.match(ended.message, /template/)
    await using inside = await fixture.session('target', 'model')
    assert.equal(await inside.value("SELECT to_regclass('public.theirs')::text"), 'public.theirs')
    assert.deepEqual(await engine.traces('model', spec, fixture.credentials), [])
  })

  check('what may be overwritten stays when the copy cannot succeed', async (fixture, engine) => {
    await fixture.make('precious', [keyed])
    await fixture.make('precious', ['CREATE TABLE theirs (a int)'], 'target')
    const sourceFromTarget = { host: '127.0.0.1', port: 1 }
    const spec = fixture.spec(['precious'], { mode: 'online', overwrite: true, sourceFromTarget })
    const ended = await finish(fixture, engine, 'precious', spec)
    assert.equal(ended.phase, 'failed')
    await using target = await fixture.session('target', 'precious')
    assert.equal(await target.value("SELECT to_regclass('public.theirs')::text"), 'public.theirs')
  })

  variant('a fence of a user who sees no other sessions', async (fixture, engine) => {
    await using server = await fixture.session('source', 'postgres')
    await server.run(`CREATE ROLE own LOGIN REPLICATION PASSWORD 'own';
      CREATE ROLE app LOGIN PASSWORD 'app'`)
    await server.run('CREATE DATABASE owned OWNER own')
    await using target = await fixture.session('target', 'postgres')
    await target.run(`CREATE ROLE own LOGIN CREATEDB PASSWORD 'own'; CREATE ROLE app;
      GRANT pg_create_subscription TO own`)
    const own = { ...fixture.source.address, user: 'own' }
    const plain = fixture.spec(['owned'], {
      mode: 'online',
      roles: false,
      fence: 'stay',
      verify: 'none',
    })
    const spec = { ...plain, source: own, target: { ...plain.target, user: 'own' } }
    const secrets = { sourcePassword: 'own', targetPassword: 'own' }
    {
      await using source = await fixture.session('source', 'owned')
      await source.run(`SET ROLE own; ${keyed.replaceAll('note', 'public.note')};
        GRANT ALL ON public.note TO app; CREATE UNLOGGED TABLE public.scratch (a int);
        INSERT INTO public.scratch VALUES (1)`)
    }
    await startReplicating(fixture, engine, 'owned', spec, secrets)
    await using app = await connect(
      { address: { ...own, user: 'app' }, password: 'app', outbound: openWay },
      { database: 'owned', applicationName: 'app' },
    )
    await app.run("INSERT INTO public.note VALUES (1000, 'seen')")
    const report = await engine.validate({ ...spec, overwrite: true }, secrets)
    assert.ok(
      report.server.some(({ type, state }) => type === 'Fence' && state === 'Warning'),
      JSON.stringify(report.server),
    )
    await engine.cutover('owned', ['owned'])
    const shut = await fixture.until(
      engine,
      'owned',
      (one) => isEnded(one) || /pg_signal_backend/.test(only(one).message),
    )
    assert.notEqual(only(shut).phase, 'succeeded')
    assert.equal(app.lost(), undefined)
    await server.run('GRANT pg_signal_backend, pg_read_all_stats TO own')
    const again = isEnded(shut) ? 'owned2' : 'owned'
    if (isEnded(shut)) {
      await engine.run(again, { ...spec, overwrite: true }, secrets)
      await engine.cutover(again, ['owned'])
    }
    const ended = only(await fixture.until(engine, again, isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.notEqual(app.lost(), undefined)
  })

  variant('owners that the target’s user may not become', async (fixture, engine) => {
    await fixture.make('foreign', [
      `CREATE ROLE stranger; ${keyed}; ALTER TABLE note OWNER TO stranger; GRANT SELECT ON note TO stranger`,
    ])
    await using target = await fixture.session('target', 'postgres')
    await target.run("CREATE ROLE stranger; CREATE ROLE little LOGIN CREATEDB PASSWORD 'little'")
    const plain = fixture.spec(['foreign'], { roles: false })
    const spec = { ...plain, target: { ...plain.target, user: 'little' } }
    const secrets = { ...fixture.credentials, targetPassword: 'little' }
    await engine.run('foreign', spec, secrets)
    const ended = only(await fixture.until(engine, 'foreign', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
  })

  check('what would fail at the very end is reported before', async (fixture, engine) => {
    await fixture.make('unread', [
      `${keyed}; CREATE SEQUENCE hidden; CREATE ROLE peeker LOGIN PASSWORD 'peeker';
       GRANT SELECT ON note TO peeker; SELECT lo_create(7777)`,
    ])
    const plain = fixture.spec(['unread'])
    const spec = { ...plain, source: { ...plain.source, user: 'peeker' } }
    const report = await engine.validate(spec, { ...fixture.credentials, sourcePassword: 'peeker' })
    const told = report.databases[0]?.findings.find(({ type }) => type === 'SourcePrivileges')
    assert.equal(told?.state, 'Failed')
    assert.match(JSON.stringify(told), /hidden/)
    assert.match(JSON.stringify(told), /large object/)
    const online = { ...spec, mode: 'online' as const }
    const secrets = { ...fixture.credentials, sourcePassword: 'peeker' }
    const { databases } = await engine.validate(online, secrets)
    const owned = databases[0]?.findings.find(({ type }) => type === 'SourceOwnership')
    assert.match(JSON.stringify(owned), /Failed.*note, the database itself/)
  })

  // Covered by `crash.test.ts`, where the source crashes.
  variant('a source that is started anew in the middle of the copy', async (fixture, engine) => {
    await fixture.make('restarted', [
      'CREATE TABLE note (id int PRIMARY KEY, t text); INSERT INTO note SELECT g, repeat(md5(g::text), 40) FROM generate_series(1, 60000) g',
    ])
    const spec = fixture.spec(['restarted'], { mode: 'online' })
    await engine.run('restarted', spec, fixture.credentials)
    await fixture.until(engine, 'restarted', (one) =>
      ['schema', 'copying', 'indexing'].includes(one.databases[0]?.phase ?? ''),
    )
    await fixture.source.server.restart()
    await fixture.until(
      engine,
      'restarted',
      (one) => isEnded(one) || only(one).phase === 'replicating',
    )
    await fixture.source.server.restart()
    await using source = await fixture.session('source', 'restarted')
    await source.run("INSERT INTO public.note VALUES (0, 'late')")
    await fixture.target.server.restart()
    await engine.cutover('restarted', ['restarted'])
    // The lock at the target ended with its server, so the worker ended, and the next one starts.
    await fixture.until(engine, 'restarted', ({ worker }) => worker !== 'running')
    await engine.run('restarted', spec, fixture.credentials)
    const ended = only(await fixture.until(engine, 'restarted', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    assert.equal(ended.verified?.rows, 60001)
  })

  const roleShape = `SELECT
    (SELECT jsonb_agg(concat_ws(' ', r.rolname, s.setconfig) ORDER BY r.rolname) FROM pg_db_role_setting s
       JOIN pg_roles r ON r.oid = s.setrole WHERE r.rolname ~ '^whole_')::text || ' ' ||
    (SELECT jsonb_agg(concat_ws(' ', roleid::regrole, member::regrole, admin_option) ORDER BY 1) FROM pg_auth_members
       WHERE member::regrole::text ~ '^whole_')::text || ' ' ||
    (SELECT jsonb_agg(concat_ws(' ', p.parname, a.grantee::regrole, a.privilege_type, a.is_grantable) ORDER BY p.parname)
       FROM pg_parameter_acl p, aclexplode(p.paracl) a WHERE a.grantee::regrole::text ~ '^whole_')::text`

  check('roles come with all they have, also when a first try is lost', async (fixture) => {
    await using source = await fixture.session('source', 'postgres')
    await source.run(`CREATE ROLE whole_a; CREATE ROLE whole_b; GRANT whole_a TO whole_b WITH ADMIN OPTION;
      ALTER ROLE whole_a SET work_mem TO '9MB'; ALTER ROLE whole_b SET "My.Setting" TO 'x''y';
      ALTER ROLE whole_b SET temp_tablespaces TO '';
      GRANT SET ON PARAMETER log_statement TO whole_b WITH GRANT OPTION;
      GRANT ALTER SYSTEM ON PARAMETER my.thing TO whole_a`)
    await using other = await fixture.session('target', 'postgres')
    {
      await using lost = await fixture.session('target', 'postgres')
      const pid = await lost.value('SELECT pg_backend_pid()')
      const losing: Session = {
        ...lost,
        run: async (text) => {
          if (text.includes('; GRANT')) await other.run(`SELECT pg_terminate_backend(${pid})`)
          await lost.run(text)
        },
      }
      await assert.rejects(copyRoles(source, losing))
    }
    assert.deepEqual(await copyRoles(source, other), [])
    assert.equal(await other.value(roleShape), await source.value(roleShape))
    assert.match((await other.value(roleShape)) ?? '', /log_statement whole_b SET t/)
  })

  check('one thing that the target refuses of a role keeps no other away', async (fixture) => {
    await using source = await fixture.session('source', 'postgres')
    await source.run(`CREATE ROLE shy; ALTER ROLE shy SET log_statement TO 'all'; ALTER ROLE shy SET work_mem TO '9MB';
      GRANT pg_read_all_data TO shy`)
    await using server = await fixture.session('target', 'postgres')
    await server.run("CREATE ROLE maker LOGIN CREATEROLE PASSWORD 'maker'")
    const address = { ...fixture.target.address, user: 'maker' }
    await using target = await connect(
      { address, password: 'maker', outbound: openWay },
      { database: 'postgres', applicationName: 'maker' },
    )
    const refused = (await copyRoles(source, target)).filter((one) => one.includes('shy'))
    assert.deepEqual(
      refused.map((one) => one.split(' (')[0]),
      ['GRANT "pg_read_all_data" TO "shy"', 'ALTER ROLE "shy" SET "log_statement"'],
    )
    const kept = await server.value(
      "SELECT setconfig FROM pg_db_role_setting WHERE setrole = 'shy'::regrole",
    )
    assert.match(String(kept), /work_mem=9MB/)
  })

  check('what a source keeps as a setting runs nothing at the target', async (fixture, engine) => {
    const clause = (value: string) => settingClause({ name: 'search_path', value })
    assert.equal(clause(''), `SET "search_path" TO ''`)
    assert.equal(
      clause('"$user", public, "a""b, c"'),
      `SET "search_path" TO '$user', 'public', 'a"b, c'`,
    )
    await fixture.make('held', [
      `${keyed}; ALTER DATABASE held SET search_path TO public`,
      // The owner of a server can store anything there.
      `UPDATE pg_catalog.pg_db_role_setting SET setconfig = ARRAY['search_path=public; CREATE ROLE taken SUPERUSER']
       WHERE setdatabase = (SELECT oid FROM pg_catalog.pg_database WHERE datname = 'held')`,
    ])
    await engine.run('held', fixture.spec(['held']), fixture.credentials)
    const ended = only(await fixture.until(engine, 'held', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    await using target = await fixture.session('target', 'postgres')
    assert.equal(
      await target.value("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'taken'"),
      undefined,
    )
  })

  variant(
    'columns stand elsewhere, or are named as a newer version reserves it',
    async (fixture, engine) => {
      await fixture.make('elsewhere', [
        // The parent's later column is the last one here, and comes before the child's own columns in a copy.
        `CREATE TABLE parent (id int PRIMARY KEY, "system_user" text);
       CREATE TABLE child (own text, length int GENERATED ALWAYS AS (1 + 1) STORED) INHERITS (parent);
       ALTER TABLE parent ADD COLUMN late text;
       CREATE VIEW seen AS SELECT "system_user" FROM parent;
       INSERT INTO child (id, "system_user", own, late) SELECT g, 's', 'o' || g, 'l' FROM generate_series(1, 20) g`,
        'CREATE TABLE bare (); INSERT INTO bare DEFAULT VALUES',
      ])
      await engine.run('elsewhere', fixture.spec(['elsewhere']), fixture.credentials)
      const ended = only(await fixture.until(engine, 'elsewhere', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
      assert.deepEqual(ended.verified, { how: 'checksums', tables: 3, rows: 21 })
    },
  )

  check('what no copy can hold is a finding, and left out with a word', async (fixture, engine) => {
    await fixture.make('bound', [
      `CREATE ROLE only_here; CREATE TABLE note (id int PRIMARY KEY, t text); INSERT INTO note VALUES (1, 'a');
       ALTER TABLE note ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON note TO only_here USING (true);
       CREATE FUNCTION pg_catalog.of_mine() RETURNS int LANGUAGE sql AS 'SELECT 1';
       CREATE VIEW information_schema.of_mine AS SELECT 1 AS one;
       CREATE INDEX broken ON note (t); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'broken'::regclass`,
    ])
    const spec = fixture.spec(['bound'], { roles: false })
    const lacking = /these cannot be made: policy own on public\.note \(only_here\)/
    const before = await engine.validate(spec, fixture.credentials)
    assert.equal(before.state, 'Failed')
    assert.match(JSON.stringify(before.databases), lacking)
    const refused = await finish(fixture, engine, 'bound1', spec)
    assert.deepEqual([refused.phase, refused.attempt], ['failed', 1])
    assert.match(refused.message, lacking)
    const withRoles = fixture.spec(['bound'], { mode: 'online' })
    const after = await engine.validate(withRoles, fixture.credentials)
    assert.notEqual(after.state, 'Failed', JSON.stringify(after))
    const left = [
      /function of_mine\(\) in pg_catalog/,
      /view information_schema\.of_mine/,
      /index public\.broken/,
    ]
    for (const words of left) assert.match(JSON.stringify(after.databases), words)
    const ended = await finish(fixture, engine, 'bound2', withRoles)
    assert.equal(ended.phase, 'succeeded', ended.message)
    for (const words of left) assert.match(ended.message, words)
  })
})

test('a setting that the target does not know is left out, and reported', async (t) => {
  const there = findServer(13) !== undefined && findServer(18) !== undefined
  if (!requireOrSkip(t, there, howToGetServers)) return
  await using fixture = await openMigrationFixture(13, 18)
  await using engine = fixture.open()
  await fixture.make('set', [keyed, 'ALTER DATABASE "set" SET operator_precedence_warning TO on'])
  await engine.run('set', fixture.spec(['set']), fixture.credentials)
  const ended = only(await fixture.until(engine, 'set', isEnded))
  assert.equal(ended.phase, 'succeeded', ended.message)
  assert.match(ended.message, /operator_precedence_warning/)
})
