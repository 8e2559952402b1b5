/** What blocks a migration is reported while it does, before any time-out, and no longer. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { DatabaseEngine, ObservedMigration } from '../engine.ts'
import { isEnded, type MigrationFixture, only, startReplicating } from '../testing/fixture.ts'
import { migrationTests } from '../testing/migration-tests.ts'
import { startProxy } from '../testing/switchable-proxy.ts'
import { spaceTaken } from './room.ts'

describe('what stands in the way', () => {
  const obstacle = migrationTests(15, 18, { max_prepared_transactions: '5' })
  const warns = (words: RegExp) => (one: ObservedMigration) =>
    isEnded(one) || words.test(one.databases[0]?.warning ?? '')
  const warned = async (fixture: MigrationFixture, engine: DatabaseEngine, words: RegExp) => {
    const seen = only(await fixture.until(engine, 'stalls', warns(words)))
    assert.match(seen.warning, words)
  }
  const clear = (fixture: MigrationFixture, engine: DatabaseEngine) =>
    fixture.until(engine, 'stalls', (one) => isEnded(one) || only(one).warning === '')

  obstacle('while changes flow', async (fixture, engine) => {
    await fixture.make('stalls', [
      // Words that the newer server reserves do not prevent the cutover.
      'CREATE TABLE note (id serial PRIMARY KEY, t text, json text, "system_user" int); CREATE TABLE other (id int PRIMARY KEY)',
    ])
    await using proxy = await startProxy(fixture.source.server.port)
    const through = { ...fixture.source.address, port: proxy.port }
    const spec = fixture.spec(['stalls'], { mode: 'online', source: through })
    await startReplicating(fixture, engine, 'stalls', spec)
    await using source = await fixture.session('source', 'stalls')

    proxy.freeze()
    await warned(fixture, engine, /^The source has not answered since \S+Z: /)
    proxy.thaw()
    await clear(fixture, engine)

    await using target = await fixture.session('target', 'stalls')
    await target.run('BEGIN; LOCK TABLE public.note IN EXCLUSIVE MODE')
    await source.run("INSERT INTO public.note (t) VALUES ('late')")
    await warned(
      fixture,
      engine,
      /waits at the target: .*note is held by session \d+ of postgres \(test\)/,
    )
    await target.run('ROLLBACK')
    await clear(fixture, engine)

    await using writer = await fixture.session('source', 'stalls')
    await writer.run(
      "BEGIN; INSERT INTO public.other VALUES (1); SET application_name = 'forgotten'",
    )
    await source.run(
      'INSERT INTO public.note (t) SELECT repeat(md5(g::text), 20) FROM generate_series(1, 40000) g; CHECKPOINT',
    )
    await warned(
      fixture,
      engine,
      /keeps more than \d+ MiB of its log for transactions that are open: session \d+ of postgres/,
    )
    await writer.run('COMMIT')

    await engine.cutover('stalls', ['stalls'])
    const ended = only(await fixture.until(engine, 'stalls', isEnded))
    assert.deepEqual([ended.phase, ended.warning], ['succeeded', ''], ended.message)
    await engine.forget('stalls')
    await using server = await fixture.session('source', 'postgres')
    await server.run('DROP DATABASE stalls WITH (FORCE)')
    await using there = await fixture.session('target', 'postgres')
    await there.run('DROP DATABASE stalls WITH (FORCE)')
  })

  obstacle('while rows are copied, and room that does not do', async (fixture, engine) => {
    await fixture.make('stalls', [
      `CREATE FUNCTION slowly(a int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
         IF current_setting('server_version_num')::int > 160000 THEN PERFORM pg_sleep(0.003); END IF; RETURN true;
       END $$;
       CREATE TABLE slow (a int CHECK (public.slowly(a)), t text);
       INSERT INTO slow SELECT g, repeat('x', 9000) || g FROM generate_series(1, 6000) g`,
    ])
    await using server = await fixture.session('target', 'postgres')
    await using proxy = await startProxy(fixture.source.server.port)
    await using source = await fixture.session('source', 'stalls')
    const size = Number(await source.value("SELECT pg_database_size('stalls')"))
    const taken = await spaceTaken(server)
    const spec = (targetStorageBytes: number) =>
      fixture.spec(['stalls'], {
        source: { ...fixture.source.address, port: proxy.port },
        targetStorageBytes,
      })
    const isShort =
      /registered with \d+ MiB of storage, of which \d+ are taken; \d+ more are needed/
    const report = await engine.validate(spec(taken + size - 1), fixture.credentials)
    const finding = report.server.find(({ type }) => type === 'TargetSpace')
    assert.match(finding?.messages[0]?.message ?? '', isShort)
    assert.equal(report.state, 'Failed')
    await engine.run('short', spec(taken + size - 1), fixture.credentials)
    const failed = only(await fixture.until(engine, 'short', isEnded))
    assert.deepEqual([failed.phase, failed.attempt], ['failed', 1])
    assert.match(failed.message, isShort)

    await engine.run('stalls', spec(taken + size + 2 ** 24), fixture.credentials)
    await fixture.until(
      engine,
      'stalls',
      (one) => isEnded(one) || one.databases.some(({ bytesCopied }) => bytesCopied > 0),
    )
    proxy.freeze()
    await warned(fixture, engine, /^The source has not answered since \S+Z: /)
    proxy.thaw()
    await clear(fixture, engine)
    for (const name of ['one', 'two', 'three', 'four', 'five'])
      await server.run(`CREATE DATABASE eats_${name} STRATEGY file_copy`)
    await warned(fixture, engine, isShort)
    const ended = only(await fixture.until(engine, 'stalls', isEnded))
    assert.deepEqual([ended.phase, ended.attempt], ['succeeded', 1], ended.message)
  })
})
