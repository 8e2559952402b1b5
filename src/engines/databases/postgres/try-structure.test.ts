/**
 * What the target would refuse during a migration is reported before it begins, and the trial leaves nothing
 * behind.
 */

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { ValidationReport } from '../engine.ts'
import { isEnded, type MigrationFixture, only, openMigrationFixture } from '../testing/fixture.ts'
import { findServer, howToGetServers } from '../testing/servers.ts'

/** Up to version 15 a child may generate a column that its parent stores. */
const mixedInheritance = `CREATE TABLE plain (a int, b int);
  CREATE TABLE generating (a int, b int GENERATED ALWAYS AS (a * 2) STORED);
  ALTER TABLE generating INHERIT plain`

/** From version 18 on, NOT NULL of a parent holds for its children. */
const nullableHeir = `CREATE TABLE parent (id int PRIMARY KEY, t text NOT NULL);
  CREATE TABLE heir () INHERITS (parent);
  ALTER TABLE heir ALTER t DROP NOT NULL`

const minute = 60_000
const has = (major: 15 | 18): boolean => findServer(major) !== undefined

describe('a validation restores the structure', { concurrency: 1 }, () => {
  test('what the newer server refuses is a finding with its words', async (t) => {
    if (!requireOrSkip(t, has(15) && has(18), howToGetServers)) return
    await using fixture = await openMigrationFixture(15, 18)
    await using engine = fixture.open()
    await fixture.make('mixed', [mixedInheritance])
    await fixture.make('sound', [
      `CREATE TABLE note (id int PRIMARY KEY, t text);
       CREATE VIEW of_catalog AS SELECT attstattarget FROM pg_attribute;
       CREATE TABLE parted (id int GENERATED ALWAYS AS IDENTITY) PARTITION BY LIST (id);
       CREATE TABLE part PARTITION OF parted DEFAULT`,
    ])
    const spec = fixture.spec(['mixed', 'sound'])
    const report = await engine.validate(spec, fixture.credentials)
    assert.equal(report.state, 'Failed')
    assert.match(
      JSON.stringify(structureOf(report, 'mixed').messages),
      /does not take .*column .*b.* specifies generation expression/,
    )
    assert.equal(structureOf(report, 'sound').state, 'Succeeded')
    await assertNothingLeft(fixture)
  })

  test('what the newer server makes another structure of is a finding, and no copy is kept', async (t) => {
    if (!requireOrSkip(t, has(15) && has(18), howToGetServers)) return
    await using fixture = await openMigrationFixture(15, 18)
    await using engine = fixture.open()
    await fixture.make('heirs', [
      nullableHeir,
      // What is added to an extension is in no dump.
      'CREATE EXTENSION hstore; CREATE TABLE added (id int); INSERT INTO added VALUES (1); ALTER EXTENSION hstore ADD TABLE added',
    ])
    const spec = fixture.spec(['heirs'])
    const report = await engine.validate(spec, fixture.credentials)
    const words =
      /the table of an extension public\.added is at the source.*column t of public\.heir differs: not null \(none\) at the source, yes at the target/
    assert.match(JSON.stringify(structureOf(report, 'heirs').messages), words)
    assert.equal(report.state, 'Failed')
    await engine.run('heirs', spec, fixture.credentials)
    const ended = only(await fixture.until(engine, 'heirs', isEnded))
    assert.equal(ended.phase, 'failed', ended.message)
    assert.match(ended.message, words)
    assert.deepEqual(await databasesOf(fixture), [])
  })

  test('odd structures are taken, and only what an earlier validation left is dropped', async (t) => {
    if (!requireOrSkip(t, has(15), howToGetServers)) return
    await using fixture = await openMigrationFixture(15, 15)
    await using engine = fixture.open()
    await fixture.makeOdd('odd')
    await using target = await fixture.session('target', 'postgres')
    const scratch = async (name: string, ago?: number): Promise<void> => {
      await target.run(`CREATE DATABASE ${name}`)
      if (ago === undefined) return
      const comment = `Scratch database of a validation, to be dropped. Made at ${Date.now() - ago}`
      await target.run(`COMMENT ON DATABASE ${name} IS '${comment}'`)
    }
    const folder = join(fixture.folder, '.trials')
    for (const ago of [61, 59]) {
      mkdirSync(join(folder, `${Date.now() - ago * minute}-${ago}`), { recursive: true })
    }
    await scratch('mig_trial00_0', 61 * minute)
    await scratch('mig_trial01_0', 59 * minute)
    await scratch('mig_trial02_0')
    const report = await engine.validate(fixture.spec(['odd']), fixture.credentials, {
      isFollowed: true,
    })
    assert.equal(structureOf(report, 'odd').state, 'Succeeded', JSON.stringify(report))
    assert.deepEqual(await databasesOf(fixture), ['mig_trial01_0', 'mig_trial02_0'])
    assert.deepEqual(
      readdirSync(folder).map((name) => name.split('-')[1]),
      ['59'],
    )
    // The extension of version 15 finds its own type by a path.
    await fixture.make('places', [
      'CREATE EXTENSION earthdistance CASCADE; CREATE TABLE place (at point); CREATE INDEX by_place ON place USING gist (ll_to_earth(at[0], at[1]))',
    ])
    const places = await engine.validate(fixture.spec(['places']), fixture.credentials)
    assert.match(
      JSON.stringify(structureOf(places, 'places').messages),
      /by_place.*finds names by the search_path.*later version/,
    )
    // A bound of a partition is computed where the partition is made.
    await fixture.make('others', [
      `CREATE ROLE plain_one; GRANT CREATE ON SCHEMA public TO plain_one; SET ROLE plain_one;
       CREATE FUNCTION public.rise() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
         IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'risen') THEN CREATE ROLE risen; END IF;
         RETURN true; END $$;
       CREATE DOMAIN public.checked AS int CHECK (VALUE > 0 AND public.rise());
       CREATE TABLE public.parted (id public.checked) PARTITION BY RANGE (id);
       CREATE TABLE public.one_part PARTITION OF public.parted FOR VALUES FROM (1) TO (2); RESET ROLE`,
    ])
    for (const isFollowed of [false, true]) {
      const others = await engine.validate(fixture.spec(['others']), fixture.credentials, {
        isFollowed,
      })
      const { state, messages } = structureOf(others, 'others')
      assert.equal(state, isFollowed ? 'Succeeded' : 'Warning', JSON.stringify(messages))
      if (isFollowed) continue
      assert.match(JSON.stringify(messages), /Not tried: .*superuser.*plain_one/)
      await using target = await fixture.session('target', 'postgres')
      const risen = "SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'risen'"
      assert.equal(await target.value(risen), undefined)
    }
  })
})

function structureOf(report: ValidationReport, database: string) {
  const findings = report.databases.find(({ name }) => name === database)?.findings ?? []
  const found = findings.find(({ type }) => type === 'Structure')
  assert.ok(found, JSON.stringify(report))
  return found
}

async function assertNothingLeft(fixture: MigrationFixture): Promise<void> {
  assert.deepEqual(await databasesOf(fixture), [])
  assert.deepEqual(
    readdirSync(fixture.folder, { recursive: true }).filter((name) => name !== '.trials'),
    [],
  )
}

async function databasesOf(fixture: MigrationFixture): Promise<readonly string[]> {
  await using target = await fixture.session('target', 'postgres')
  const rows = await target.rows<{ name: string }>(
    "SELECT datname AS name FROM pg_catalog.pg_database WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY 1",
  )
  return rows.map(({ name }) => name)
}
