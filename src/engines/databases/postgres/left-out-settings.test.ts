/** Settings of a database that the target refuses: there may be any number, and records and reports are read as a whole. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { isEnded, only } from '../testing/fixture.ts'
import { migrationTests } from '../testing/migration-tests.ts'

describe('settings that the target refuses', () => {
  const check = migrationTests(15, 18)

  check('a hundred of them are in the report, in few words', async (fixture, engine) => {
    await fixture.make('refused', ['CREATE TABLE t (a int PRIMARY KEY)'])
    for (const side of ['source', 'target'] as const) {
      await using server = await fixture.session(side, 'postgres')
      await server.run('CREATE ROLE refused_for')
    }
    {
      await using source = await fixture.session('source', 'postgres')
      await source.run(`SET allow_system_table_mods = on;
        INSERT INTO pg_db_role_setting SELECT d.oid, r.oid,
          (SELECT array_agg('none' || i || repeat('x', 1000) || '=1') FROM generate_series(1, 150) i)
        FROM pg_database d, pg_roles r WHERE d.datname = 'refused' AND r.rolname = 'refused_for'`)
    }
    await engine.run('refused', fixture.spec(['refused']), fixture.credentials)
    const ended = only(await fixture.until(engine, 'refused', isEnded))
    assert.equal(ended.phase, 'succeeded', ended.message)
    const [report] = await engine.report('refused')
    const { leftOut = [] } = report ?? {}
    assert.equal(leftOut.filter((words) => words.startsWith('the setting none')).length, 100)
    assert.ok(leftOut.some((words) => words.startsWith('50 more settings')))
    assert.ok(leftOut.every(({ length }) => length < 400))
  })

  check('what a role lacks is in few words', async (fixture, engine) => {
    await fixture.make('ofrole', ['CREATE TABLE t (a int PRIMARY KEY)'])
    {
      await using source = await fixture.session('source', 'postgres')
      await source.run(`CREATE ROLE refused_role; SET allow_system_table_mods = on;
        INSERT INTO pg_db_role_setting SELECT 0, r.oid, array_agg('none' || i || repeat('x', 20000) || '=1')
        FROM pg_roles r, generate_series(1, 3) i WHERE r.rolname = 'refused_role' GROUP BY r.oid`)
    }
    const spec = fixture.spec(['ofrole'], { roles: true })
    await engine.run('ofrole', spec, fixture.credentials)
    const { message } = await fixture.until(engine, 'ofrole', isEnded)
    assert.match(message, /^Roles: ALTER ROLE "refused_role" SET "none/)
    assert.ok(message.length <= 4000)
  })

  check(
    'publications, and roles that the target lacks, are in the report in few words',
    async (fixture, engine) => {
      await fixture.make('publishing', [
        `CREATE TABLE note (id int PRIMARY KEY);
       CREATE FUNCTION no_more() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE '%', repeat('no', 1000); END $$;
       CREATE EVENT TRIGGER no_more ON ddl_command_start WHEN TAG IN ('CREATE PUBLICATION') EXECUTE FUNCTION no_more();
       ALTER EVENT TRIGGER no_more DISABLE`,
        `DO $$ BEGIN FOR i IN 1..150 LOOP EXECUTE 'CREATE PUBLICATION p' || i; END LOOP;
         FOR i IN 1..150 LOOP EXECUTE 'CREATE ROLE lacked_' || i; EXECUTE 'CREATE TABLE o' || i || ' ()';
           EXECUTE 'ALTER TABLE o' || i || ' OWNER TO lacked_' || i; END LOOP; END $$;
       ALTER EVENT TRIGGER no_more ENABLE ALWAYS`,
      ])
      const spec = fixture.spec(['publishing'], { roles: false })
      await engine.run('publishing', spec, fixture.credentials)
      const ended = only(await fixture.until(engine, 'publishing', isEnded))
      assert.equal(ended.phase, 'succeeded', ended.message)
      const [report] = await engine.report('publishing')
      const { leftOut = [] } = report ?? {}
      assert.ok(leftOut.some((words) => words.startsWith('the publication p1 (nono')))
      assert.ok(
        leftOut.some(
          (words) => words.startsWith('owners and grants') && words.endsWith(' and 140 more)'),
        ),
      )
      assert.equal(leftOut.length, 100)
      assert.equal(leftOut.at(-1), 'more, which is not listed')
      assert.ok(leftOut.every(({ length }) => length <= 300))
    },
  )
})
