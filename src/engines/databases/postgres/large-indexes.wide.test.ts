/**
 * Several indexes of a large table are built at once, including keys, and everything else of the table is copied as
 * before.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireOrSkip } from '../../../../tests/require.ts'
import { fingerprint } from '../testing/fingerprint.ts'
import { isEnded, only, openMigrationFixture } from '../testing/fixture.ts'
import { findServer, howToGetServers } from '../testing/servers.ts'

const large = `
  CREATE TABLE big (id bigint, code text NOT NULL, a int, b int, "Odd ""name" int, t text);
  INSERT INTO big SELECT g, md5(g::text), g % 1000, nullif(g % 7, 0), g, repeat(md5(g::text), 4)
    FROM generate_series(1, 90000) g;
  ALTER TABLE big ADD CONSTRAINT big_key PRIMARY KEY (id) INCLUDE (a) WITH (fillfactor = 80);
  ALTER TABLE big ADD CONSTRAINT "Code is, unique" UNIQUE NULLS NOT DISTINCT (code);
  ALTER TABLE big ADD CONSTRAINT later UNIQUE (id, a) DEFERRABLE INITIALLY DEFERRED;
  CREATE INDEX big_a ON big (a DESC NULLS LAST, b);
  CREATE INDEX "big hash" ON big USING hash ("Odd ""name");
  CREATE INDEX "big a" ON big USING brin (id);
  CREATE INDEX by_words ON big (lower(t));
  CREATE INDEX only_some ON big (b) WHERE b > 3;
  CREATE INDEX in_order ON big (b, a); ALTER TABLE big CLUSTER ON in_order;
  CREATE UNIQUE INDEX identity ON big (code, id); ALTER TABLE big ALTER id SET NOT NULL, REPLICA IDENTITY USING INDEX identity;
  COMMENT ON INDEX big_a IS 'by a'; COMMENT ON CONSTRAINT big_key ON big IS 'the key';
  ALTER INDEX by_words ALTER COLUMN 1 SET STATISTICS 500;
  CREATE TABLE parted (id int, CONSTRAINT parted_key PRIMARY KEY (id)) PARTITION BY RANGE (id);
  CREATE TABLE part_of_it PARTITION OF parted FOR VALUES FROM (1) TO (10);
  COMMENT ON CONSTRAINT parted_key ON parted IS 'of all its partitions';
  CREATE TABLE child (id bigint REFERENCES big, code text REFERENCES big (code));
  INSERT INTO child SELECT id, code FROM big WHERE id < 10`

test('indexes of a large table are built at once', async (t) => {
  const has = findServer(15) !== undefined && findServer(18) !== undefined
  if (!requireOrSkip(t, has, howToGetServers)) return
  await using fixture = await openMigrationFixture(15, 18)
  await using engine = fixture.open()
  await fixture.make('large', [large])
  await using watching = await fixture.session('target', 'postgres')
  await engine.run('large', fixture.spec(['large'], { tablesAtOnce: 3 }), fixture.credentials)
  let most = 0
  let seen = await engine.observe('large')
  while (!isEnded(seen)) {
    const built = await watching.value(
      'SELECT count(*) FROM pg_stat_progress_create_index WHERE pid NOT IN (SELECT pid FROM pg_stat_activity WHERE leader_pid IS NOT NULL)',
    )
    most = Math.max(most, Number(built))
    seen = await engine.observe('large')
  }
  const ended = only(seen)
  assert.equal(ended.phase, 'succeeded', ended.message)
  await using source = await fixture.session('source', 'large')
  await using target = await fixture.session('target', 'large')
  assert.deepEqual(
    await fingerprint(fixture.target, 'large'),
    await fingerprint(fixture.source, 'large'),
  )
  const indexes = `SELECT string_agg(pg_get_indexdef(indexrelid) || coalesce(pg_get_constraintdef(k.oid), ''), E'\\n' ORDER BY indexrelid::regclass::text)
    FROM pg_index i LEFT JOIN pg_constraint k ON k.conindid = indexrelid AND k.contype <> 'f' WHERE indrelid = 'public.big'::regclass`
  assert.equal(await target.value(indexes), await source.value(indexes))
  assert.ok(most >= 2, `at most ${most} were built at once`)
})
