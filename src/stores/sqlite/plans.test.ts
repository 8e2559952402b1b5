/** Every statement of a request is an index search in the wanted order, as SQLite itself says. */

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'

import { blockQueries } from '#activity/blocks.ts'
import { scanQueries } from '#activity/scan.ts'
import { sweepQueries } from '#activity/sweep.ts'
import { initial } from './migrations/0001-initial.ts'
import { activity } from './migrations/0002-activity.ts'
import { changes, queries } from './statements.ts'

/** Small tables with one row per feed, or one counter: a full scan is right for them. */
const scanned: ReadonlySet<string> = new Set(['feedPositions', 'takeFence', 'ping'])

function planOf(db: DatabaseSync, text: string): readonly string[] {
  // SQLite's documented columns: id, parent, notused, detail.
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { readonly detail: string }[]
  return rows.map(({ detail }) => detail)
}

const db = new DatabaseSync(':memory:')
for (const text of [...initial.sqlite, ...activity.sqlite]) db.exec(text)

/** The statements of the audit trail. */
const { oldest: _whole, newest: _end, ...sweeps } = sweepQueries
const { lastBlock: _newest, ...blocks } = blockQueries
const trail = { ...sweeps, ...blocks, ...scanQueries }

for (const [name, text] of Object.entries({ ...queries, ...changes, ...trail })) {
  test(`${name} searches and does not sort`, () => {
    const plan = planOf(db, text)
    for (const step of plan) {
      assert.doesNotMatch(step, /TEMP B-TREE/, plan.join('; '))
      if (scanned.has(name) || /^SCAN (\(|CONSTANT)/.test(step)) continue
      if (/^SCAN work USING (COVERING )?INDEX work_(due|claimed)$/.test(step)) {
        // In the order of the index up to the first wanted row: the text contains `LIMIT 1`.
        assert.match(text, /LIMIT 1$/)
        continue
      }
      assert.doesNotMatch(step, /^SCAN/, plan.join('; '))
    }
  })
}

test('each list uses the index made for it', () => {
  const indexOf = (text: string): string | undefined =>
    planOf(db, text)
      .map((step) => /USING (?:COVERING )?INDEX (\S+) \((.*)\)/.exec(step)?.slice(1).join(' '))
      .find((index) => index !== undefined)
  assert.equal(indexOf(queries.listAll), 'sqlite_autoindex_resources_1 key>? AND key<?')
  assert.equal(indexOf(queries.listTracked), 'resources_tracked key>? AND key<?')
  assert.equal(indexOf(queries.listByType), 'resources_by_type type=? AND key>? AND key<?')
  assert.equal(indexOf(queries.listByTypeTracked), 'resources_by_type type=? AND key>? AND key<?')
})

test('a statement that scans or sorts is found out', () => {
  const unindexed = planOf(db, 'SELECT key FROM resources WHERE etag = ? ORDER BY id')
  assert.ok(unindexed.some((step) => /^SCAN resources/.test(step)))
  assert.ok(unindexed.some((step) => /TEMP B-TREE/.test(step)))
})
