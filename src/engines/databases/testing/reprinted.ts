/**
 * Views, rules and functions of two versions: each server prints them in its own way. So the source's text is made anew at the
 * target, which prints it; that must be what it prints of its own. For tests.
 */

import assert from 'node:assert/strict'
import type { Session } from '../postgres/connect.ts'

interface Definition {
  readonly kind: 'view' | 'rule' | 'function'
  readonly name: string
  readonly text: string
}

const user = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'"
const notOf = (catalog: string, oid: string): string =>
  `NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalog}'::regclass AND d.objid = ${oid} AND d.deptype IN ('e', 'i') AND d.refclassid <> 'pg_class'::regclass)`

const definitions = `
  SELECT 'view' AS kind, c.oid::regclass::text AS name, pg_get_viewdef(c.oid) AS text
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'm') AND ${user} AND ${notOf('pg_class', 'c.oid')}
  UNION ALL
  SELECT 'rule', format('%I ON %s', r.rulename, c.oid::regclass), pg_get_ruledef(r.oid)
  FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE r.rulename <> '_RETURN' AND ${user} AND ${notOf('pg_class', 'c.oid')}
  UNION ALL
  SELECT 'function', p.oid::regprocedure::text, pg_get_functiondef(p.oid)
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.prokind <> 'a' AND ${user} AND ${notOf('pg_proc', 'p.oid')}`

const scratch = 'armature_reprinted'

/** Returns how many were printed differently and mean the same. */
export async function assertSameMeaning(source: Session, target: Session): Promise<number> {
  // Keywords differ by version too.
  for (const side of [source, target]) await side.run('SET quote_all_identifiers = on')
  const here = await source.rows<Definition>(definitions)
  const there = new Map(
    (await target.rows<Definition>(definitions)).map((one) => [`${one.kind} ${one.name}`, one]),
  )
  assert.equal(there.size, here.length)
  let reprinted = 0
  for (const { kind, name, text } of here) {
    const own = there.get(`${kind} ${name}`)?.text
    if (own === text) continue
    reprinted++
    await target.run(`BEGIN; SET LOCAL check_function_bodies = off; CREATE SCHEMA ${scratch}`)
    await target.run(
      kind === 'view'
        ? `CREATE VIEW ${scratch}.one AS ${text}`
        : text.replace(/^CREATE RULE/, 'CREATE OR REPLACE RULE'),
    )
    const printed =
      kind === 'view'
        ? await target.value(`SELECT pg_get_viewdef('${scratch}.one'::regclass)`)
        : (await target.rows<Definition>(definitions)).find(
            (one) => one.kind === kind && one.name === name,
          )?.text
    await target.run('ROLLBACK')
    assert.equal(printed, own, `${kind} ${name}`)
  }
  return reprinted
}
