/**
 * PostgreSQL's own regression database, which holds nearly all that a database can hold: made by the scripts of the server's
 * sources (`src/test/regress`), which are no part of this repository. They are looked for in `regression/<major>` below
 * `ARMATURE_TEST_DATABASES`. Its functions in C are left out: a library of one version is loaded by no other.
 */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quoteName } from '../postgres/connect.ts'
import type { MigrationFixture } from './fixture.ts'
import { runClient } from './published.ts'

export const howToGetRegression =
  "PostgreSQL's regression database is not migrated: link src/test/regress of the server's sources as " +
  'regression/13 and regression/15 below the folder ARMATURE_TEST_DATABASES'

/** They make no objects that stay, or look at the machine, or at all of the server. */
const leftOut: ReadonlySet<string> = new Set([
  'tablespace',
  'infinite_recurse',
  'sanity_check',
  'type_sanity',
  'opr_sanity',
  'misc_sanity',
  'oidjoins',
  'subscription',
])

const settings: Readonly<Record<string, string>> = {
  lc_messages: 'C',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
  bytea_output: 'hex',
  timezone_abbreviations: 'Default',
}

/**
 * What newer servers do not take, as PostgreSQL's own test of its upgrades says (`AdjustUpgrade.pm`); a validation says each
 * of them before anything is made. By the first major version that does not take it.
 */
const withdrawn: Readonly<Record<number, readonly string[]>> = {
  14: [
    ...['#@#', '#%#', '!=-', '#@%#'].map(
      (operator) => `DROP OPERATOR IF EXISTS ${operator} (bigint, NONE)`,
    ),
    'DROP AGGREGATE IF EXISTS array_cat_accum (anyarray), array_larger_accum (anyarray), first_el_agg_any (anyelement)',
    'DROP OPERATOR IF EXISTS @#@ (NONE, bigint)',
  ],
  16: ['DROP TABLE IF EXISTS gtest_normal_child, gtest_normal_child2'],
}

export async function dropWithdrawn(
  fixture: MigrationFixture,
  database: string,
  [from, to]: readonly [number, number],
): Promise<void> {
  await using session = await fixture.session('source', database)
  await session.run('SET search_path TO public')
  for (const [major, statements] of Object.entries(withdrawn)) {
    if (Number(major) <= from || Number(major) > to) continue
    for (const statement of statements) await session.run(statement)
  }
}

export function findRegression(major: number): string | undefined {
  const folder = join(process.env['ARMATURE_TEST_DATABASES'] ?? '', 'regression', String(major))
  return existsSync(join(folder, 'parallel_schedule')) ? folder : undefined
}

/** The test scripts as the schedule orders them. */
function scriptsOf(folder: string): readonly string[] {
  return readFileSync(join(folder, 'parallel_schedule'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('test: '))
    .flatMap((line) => line.slice('test: '.length).trim().split(/\s+/))
    .filter((name) => !leftOut.has(name))
}

/** Older sources have places where their own program puts folders. */
function textOf(folder: string, script: string, own: string): string {
  const template = join(folder, 'input', `${script}.source`)
  if (!existsSync(template)) return readFileSync(join(folder, 'sql', `${script}.sql`), 'utf8')
  return readFileSync(template, 'utf8')
    .replaceAll('@abs_srcdir@', folder)
    .replaceAll(/@(?:abs_builddir|testtablespace|libdir)@/g, own)
    .replaceAll('@DLSUFFIX@', '.so')
}

/** By age, so that each comes after those that it reads. */
const refreshAll = `DO $$ DECLARE one text; BEGIN
  FOR one IN SELECT c.oid::pg_catalog.regclass::text FROM pg_catalog.pg_class c
    WHERE c.relkind = 'm' AND c.relispopulated ORDER BY c.oid LOOP
    EXECUTE 'REFRESH MATERIALIZED VIEW ' || one;
  END LOOP;
END $$`

/** Statements that fail are meant to, or belong to functions in C: the rest is a database all the same. */
export async function makeRegression(
  fixture: MigrationFixture,
  database: string,
  major: number,
): Promise<void> {
  const folder = findRegression(major)
  if (folder === undefined) throw new Error(howToGetRegression)
  const own = mkdtempSync(join(tmpdir(), 'armature-regression-'))
  try {
    await fixture.make(
      database,
      Object.entries(settings).map(
        ([name, value]) => `ALTER DATABASE ${quoteName(database)} SET ${name} TO '${value}'`,
      ),
    )
    for (const script of scriptsOf(folder)) {
      const file = join(own, `${script}.sql`)
      writeFileSync(file, textOf(folder, script, own))
      await runClient('psql', ['--quiet', '--no-psqlrc', '--echo-all', '--file', file], {
        server: fixture.source,
        database,
        env: {
          PG_ABS_SRCDIR: folder,
          PG_ABS_BUILDDIR: own,
          PG_LIBDIR: own,
          PG_DLSUFFIX: '.so',
          PGTZ: 'PST8PDT',
          PGDATESTYLE: 'Postgres, MDY',
          PGOPTIONS: '-c intervalstyle=postgres_verbose -c statement_timeout=60s',
        },
      })
    }
    // A migration fills materialized views anew, as a dump does.
    await using inside = await fixture.session('source', database)
    await inside.run(refreshAll)
  } finally {
    for (const name of readdirSync(own)) rmSync(join(own, name), { recursive: true })
    rmSync(own, { recursive: true, force: true })
  }
}
