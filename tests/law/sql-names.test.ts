/**
 * The law of SQL that is sent to servers of others. The owner of a database sets the `search_path` of its sessions, and a
 * function or operator of theirs with a closer signature is taken before the system's, with the rights of our user. So where the
 * path of the database holds, statements name the schema of every function and operator; sessions of a migration have an empty path.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sourceFiles } from './source.ts'

/** What is followed by a bracket and is no function. Names of tables are quoted by code. */
const keywords = new Set(
  'as any select values exists lateral operator join on from when then and or not key conflict copy with format array'.split(
    ' ',
  ),
)

/** Syntax that looks for an operator by the path. */
const implicit =
  /\b(?:in \(|between|ilike|similar to|using \(|natural|distinct|nullif|case (?!when))/i

/** What a statement leaves to the path; empty for text that is no SQL. */
function unnamed(chunk: string): readonly string[] {
  if (!/\b(?:select|insert into|copy|pg_catalog)\b/i.test(chunk)) return []
  const code = chunk
    .replaceAll(/\$\{equals\}/g, 'OPERATOR(pg_catalog.=)')
    // An assignment.
    .replaceAll(/\$\{[^}]*\} = excluded\./g, '')
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, ' name ')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll(/OPERATOR\(pg_catalog\.[^)\w\s]+\)/g, ' is ')
    .replaceAll(/::pg_catalog\.[\w"]+(?:\[\])?/g, '')
  const calls = [...code.matchAll(/(?<![.\w"$]|\bas )([a-z_]\w*) ?\(/gi)].map(
    ([, name = '']) => name,
  )
  const operators = [...code.matchAll(/::\w+|[-=<>~|+!%&^@#]+/g)].map(([one]) => one)
  return [
    ...calls.filter((name) => !keywords.has(name.toLowerCase()) && name !== 'name'),
    ...operators,
    ...(implicit.exec(code) ?? []),
  ]
}

const chunksOf = (text: string): readonly string[] =>
  [...text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').matchAll(/`((?:[^`\\]|\\.)*)`/g)].map(
    ([, chunk = '']) => chunk,
  )

describe('statements to servers of others', () => {
  for (const { path, text, isTest } of sourceFiles('src/engines/copy/tables')) {
    if (isTest || !/\/postgres-\w+\.ts$/.test(path)) continue
    test(path, () => {
      assert.deepEqual(chunksOf(text).flatMap(unnamed), [])
    })
  }

  test('a migration empties the path first, and nothing sets it again', () => {
    for (const { path, text, isTest } of sourceFiles('src/engines/databases/postgres')) {
      if (isTest) continue
      assert.doesNotMatch(
        text,
        /set_config\('search_path'|SET (?:LOCAL )?search_path (?:=|TO) (?!''|…)/i,
        path,
      )
      if (!path.endsWith('/connect.ts')) continue
      assert.match(text, /^ {2}search_path: '',$/m)
      const prelude = chunksOf(text).filter((chunk) =>
        chunk.startsWith('SELECT pg_catalog.set_config(name, value, false)'),
      )
      assert.equal(prelude.length, 1)
      assert.deepEqual(prelude.flatMap(unnamed), [])
    }
  })

  test('the law sees each way', () => {
    for (const [statement, seen] of [
      ['select count(*) from t', 'count'],
      ['select pg_catalog.max(x) from t where a = 1', '='],
      ["select 'a' || name from t", '||'],
      ['select x::text from t', '::text'],
      ['select 1 from t where a in (1, 2)', 'in ('],
      ['select 1 from t join s using (a)', 'using ('],
    ] as const) {
      assert.ok(unnamed(statement).includes(seen), statement)
    }
  })
})
