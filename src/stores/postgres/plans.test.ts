/** Lists and point reads are index scans in the wanted order, as PostgreSQL says for a filled table. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'

import { requireOrSkip } from '../../../tests/require.ts'
import { contractOptions } from '../contract/setting.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '../testing/postgres-server.ts'
import { openPostgres } from './open.ts'
import { queries } from './statements.ts'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

const range = ['/s1/', '/s10', 100, '/s1']
const values: Readonly<Record<string, readonly (string | number | readonly string[])[]>> = {
  get: ['/s1/500'],
  getAll: [['/s1/501', '/s2/502']],
  listAll: range,
  listTracked: range,
  listByType: [...range, 't/1'],
  listByTypeTracked: [...range, 't/1'],
  countAll: range,
  countTracked: range,
  countByType: [...range, 't/1'],
  countByTypeTracked: [...range, 't/1'],
  listUnique: ['a#', 'a#z', 100],
  operation: ['o1'],
  runningOperation: ['/s1/1'],
  feedSince: ['f', 10, 100],
}

test('no list or read looks at a whole table', async (t: TestContext) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  await using _store = await openPostgres({ url, poolSize: 2, clock: Date, ...contractOptions })
  const { Client } = (await import('pg')).default
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const fill of [
      `INSERT INTO resources SELECT '/s' || n % 10 || '/' || n, 'i', 't/' || n / 10 % 2, n / 20 % 2, 'a#' || n, 'e', 1, '{}'
         FROM generate_series(1, 20000) AS n`,
      `INSERT INTO operations SELECT 'o' || n, '/s1/' || n, '{}', n % 2, n FROM generate_series(1, 20000) AS n`,
      `INSERT INTO feed_entries SELECT 'f', n, '/a' FROM generate_series(1, 20000) AS n`,
      'ANALYZE',
    ]) {
      await client.query(fill)
    }
    for (const [name, given] of Object.entries(values)) {
      const statement = Object.entries(queries).find(([known]) => known === name)?.[1]
      assert.ok(statement !== undefined, name)
      const { rows } = await client.query<unknown[]>({
        text: `EXPLAIN (FORMAT JSON) ${statement.text}`,
        values: [...given],
        rowMode: 'array',
      })
      // The server's documented shape: one cell, a list of one plan.
      const [cell] = rows as [[[{ readonly Plan: PlanNode }]]]
      const plan = cell[0][0].Plan
      const scans = nodesOf(plan).filter((node) => node['Relation Name'] !== undefined)
      assert.ok(scans.length > 0, name)
      for (const scan of scans) {
        // Rows by their keys have no order.
        const wanted = name === 'getAll' ? /^(Index|Bitmap Heap) Scan$/ : /^Index (Only )?Scan$/
        assert.match(scan['Node Type'], wanted, `${name}: ${JSON.stringify(plan)}`)
      }
    }
  } finally {
    await client.end()
  }
})
