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
})
