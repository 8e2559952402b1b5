/**
 * A database with every extension that two servers bring, and with tables whose columns, defaults, indexes, checks and
 * triggers use what they bring. An extension that a server cannot load (a language that is not installed) is left out.
 */

import { quoteName } from '../postgres/connect.ts'
import type { MigrationFixture } from './fixture.ts'

/** What a database does with an extension, in `public`. */
const uses: Readonly<Record<string, readonly string[]>> = {
  autoinc: [
    `CREATE SEQUENCE ext_next MINVALUE 0;
     CREATE TABLE ext_autoinc (id int4 PRIMARY KEY, t text);
     CREATE TRIGGER counted BEFORE INSERT ON ext_autoinc FOR EACH ROW EXECUTE FUNCTION autoinc (id, ext_next);
     INSERT INTO ext_autoinc VALUES (0, 'a'), (0, 'b'), (7, 'c')`,
  ],
  bloom: [
    `CREATE TABLE ext_bloom (id int PRIMARY KEY, a int, b int, t text);
     INSERT INTO ext_bloom SELECT g, g % 7, g % 11, 't' || g FROM generate_series(1, 500) g;
     CREATE INDEX ON ext_bloom USING bloom (a, b, t) WITH (length = 80, col1 = 2, col2 = 4)`,
  ],
  btree_gin: [
    `CREATE TABLE ext_gin (id int PRIMARY KEY, n bigint, at timestamptz, tags text[]);
     INSERT INTO ext_gin SELECT g, g * 3, timestamptz '2020-01-01' + g * interval '1 h', ARRAY['x', g::text] FROM generate_series(1, 200) g;
     CREATE INDEX ON ext_gin USING gin (n, at, tags)`,
  ],
  btree_gist: [
    `CREATE TABLE ext_gist (room int, word text, during tstzrange, EXCLUDE USING gist (room WITH =, word WITH =, during WITH &&));
     INSERT INTO ext_gist SELECT g % 5, 'w' || g % 3, tstzrange(timestamptz '2020-01-01' + g * interval '1 day', timestamptz '2020-01-01' + g * interval '1 day' + '1 h') FROM generate_series(1, 60) g;
     CREATE INDEX ON ext_gist USING gist (room, word)`,
  ],
  citext: [
    `CREATE DOMAIN ext_email AS citext CHECK (value ~ '@');
     CREATE TABLE ext_citext (name citext PRIMARY KEY, mail ext_email UNIQUE, all_of citext[]);
     INSERT INTO ext_citext SELECT 'Name' || g, 'A' || g || '@X.org', ARRAY['Ab', 'cD']::citext[] FROM generate_series(1, 90) g;
     CREATE TABLE ext_citext_child (name citext REFERENCES ext_citext);
     INSERT INTO ext_citext_child VALUES ('name1'), ('NAME2');
     CREATE VIEW ext_citext_seen AS SELECT * FROM ext_citext WHERE name = 'NAME3'`,
  ],
  cube: [
    `CREATE TABLE ext_cube (id int PRIMARY KEY, c cube DEFAULT '(1,2),(3,4)', CHECK (cube_dim(c) <= 3));
     INSERT INTO ext_cube SELECT g, cube(ARRAY[g, g / 2.0], ARRAY[g + 1, g]) FROM generate_series(1, 200) g;
     CREATE INDEX ON ext_cube USING gist (c)`,
  ],
  dblink: [
    `CREATE VIEW ext_dblink AS SELECT * FROM dblink('dbname=nowhere', 'SELECT 1') AS t (one int)`,
  ],
  dict_int: [
    `CREATE TEXT SEARCH DICTIONARY ext_numbers (TEMPLATE = intdict_template, MAXLEN = 4, REJECTLONG = false);
     CREATE TEXT SEARCH CONFIGURATION ext_numbered (COPY = simple);
     ALTER TEXT SEARCH CONFIGURATION ext_numbered ALTER MAPPING FOR int WITH ext_numbers;
     CREATE TABLE ext_search (id int PRIMARY KEY, t text, v tsvector GENERATED ALWAYS AS (to_tsvector('public.ext_numbered'::regconfig, t)) STORED);
     INSERT INTO ext_search (id, t) SELECT g, 'number ' || g * 100003 FROM generate_series(1, 60) g;
     CREATE INDEX ON ext_search USING gin (v)`,
  ],
  earthdistance: [
    `CREATE DOMAIN ext_place AS earth;
     CREATE TABLE ext_earth (id int PRIMARY KEY, at earth, lat float8, lon float8);
     INSERT INTO ext_earth SELECT g, ll_to_earth(g, -g), g, -g FROM generate_series(1, 80) g;
     CREATE INDEX ON ext_earth USING gist (at)`,
  ],
  file_fdw: [
    `CREATE SERVER ext_files FOREIGN DATA WRAPPER file_fdw;
     CREATE FOREIGN TABLE ext_passwords (name text OPTIONS (force_null 'true'), n int) SERVER ext_files OPTIONS (filename '/nowhere', format 'csv')`,
  ],
  fuzzystrmatch: [
    `CREATE TABLE ext_fuzzy (id int PRIMARY KEY, name text);
     INSERT INTO ext_fuzzy SELECT g, 'Thompson' || g FROM generate_series(1, 60) g;
     CREATE INDEX ON ext_fuzzy (soundex(name)); CREATE INDEX ON ext_fuzzy (metaphone(name, 6))`,
  ],
  hstore: [
    `CREATE TABLE ext_hstore (id int PRIMARY KEY, h hstore NOT NULL DEFAULT ''::hstore, a hstore[]);
     INSERT INTO ext_hstore SELECT g, hstore(ARRAY['k' || g, 'x'], ARRAY[NULL, 'a "b", => c']), ARRAY['a=>1'::hstore, NULL] FROM generate_series(1, 150) g;
     CREATE INDEX ON ext_hstore USING gin (h); CREATE INDEX ON ext_hstore USING gist (h); CREATE INDEX ON ext_hstore ((h -> 'x'));
     CREATE UNIQUE INDEX ON ext_hstore USING btree (h, id)`,
  ],
  insert_username: [
    `CREATE TABLE ext_username (id int PRIMARY KEY, who text);
     CREATE TRIGGER who BEFORE INSERT OR UPDATE ON ext_username FOR EACH ROW EXECUTE FUNCTION insert_username (who);
     INSERT INTO ext_username (id) SELECT generate_series(1, 20)`,
  ],
  intarray: [
    `CREATE TABLE ext_intarray (id int PRIMARY KEY, a int[], q query_int);
     INSERT INTO ext_intarray SELECT g, ARRAY[g, g % 5, g % 7], '1&(2|3)' FROM generate_series(1, 200) g;
     CREATE INDEX ON ext_intarray USING gist (a gist__int_ops (numranges = 50)); CREATE INDEX ON ext_intarray USING gin (a gin__int_ops)`,
  ],
  isn: [
    `CREATE TABLE ext_isn (id int PRIMARY KEY, i isbn13, s issn, u upc, e ean13);
     INSERT INTO ext_isn VALUES (1, '978-0-393-04002-9', '1436-4522', '220356483481', '978-0-393-04002-9'), (2, NULL, NULL, NULL, NULL);
     CREATE UNIQUE INDEX ON ext_isn (i); CREATE INDEX ON ext_isn USING hash (s)`,
  ],
  lo: [
    `CREATE TABLE ext_lo (id int PRIMARY KEY, picture lo);
     CREATE TRIGGER managed BEFORE UPDATE OR DELETE ON ext_lo FOR EACH ROW EXECUTE FUNCTION lo_manage (picture);
     INSERT INTO ext_lo SELECT g, lo_from_bytea(700000 + g, decode(repeat('ab', g * 100), 'hex')) FROM generate_series(1, 12) g`,
  ],
  ltree: [
    `CREATE TABLE ext_ltree (path ltree PRIMARY KEY, q lquery, tq ltxtquery, up ltree REFERENCES ext_ltree);
     INSERT INTO ext_ltree SELECT ('top.n' || g)::ltree, '*.n1*', 'top & n1' FROM generate_series(1, 120) g;
     CREATE INDEX ON ext_ltree USING gist (path gist_ltree_ops (siglen = 100))`,
  ],
  moddatetime: [
    `CREATE TABLE ext_moddatetime (id int PRIMARY KEY, at timestamp DEFAULT '2020-01-01' NOT NULL);
     CREATE TRIGGER moved BEFORE UPDATE ON ext_moddatetime FOR EACH ROW EXECUTE FUNCTION moddatetime (at);
     INSERT INTO ext_moddatetime SELECT generate_series(1, 30); UPDATE ext_moddatetime SET id = id WHERE id < 5`,
  ],
  pg_stat_statements: ['CREATE VIEW ext_statements AS SELECT query, calls FROM pg_stat_statements'],
  pg_trgm: [
    `CREATE TABLE ext_trgm (id int PRIMARY KEY, t text);
     INSERT INTO ext_trgm SELECT g, 'some words ' || md5(g::text) FROM generate_series(1, 300) g;
     CREATE INDEX ON ext_trgm USING gin (t gin_trgm_ops); CREATE INDEX ON ext_trgm USING gist (t gist_trgm_ops (siglen = 32))`,
  ],
  pgcrypto: [
    `CREATE TABLE ext_crypto (id uuid DEFAULT gen_random_uuid() PRIMARY KEY, secret bytea, hash text, salt text DEFAULT gen_salt('bf'));
     INSERT INTO ext_crypto (secret, hash, salt) SELECT pgp_sym_encrypt('secret ' || g, 'key'), encode(digest(g::text, 'sha256'), 'hex'), 's' FROM generate_series(1, 15) g`,
  ],
  plperl: [
    `CREATE FUNCTION ext_perl(t text) RETURNS text LANGUAGE plperl IMMUTABLE AS $$ return uc($_[0]); $$`,
  ],
  postgres_fdw: [
    `CREATE SERVER ext_other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'nowhere', dbname 'x', port '1');
     CREATE USER MAPPING FOR CURRENT_USER SERVER ext_other OPTIONS (user 'bob', password 's=e''cret');
     CREATE FOREIGN TABLE ext_remote (id int OPTIONS (column_name 'ID') NOT NULL, t text DEFAULT 'x', CHECK (id > 0)) SERVER ext_other OPTIONS (schema_name 's', table_name 't');
     CREATE TABLE ext_spread (id int, t text) PARTITION BY RANGE (id);
     CREATE TABLE ext_spread_here PARTITION OF ext_spread FOR VALUES FROM (1) TO (100);
     CREATE FOREIGN TABLE ext_spread_there PARTITION OF ext_spread FOR VALUES FROM (100) TO (200) SERVER ext_other;
     INSERT INTO ext_spread SELECT g, 'here' FROM generate_series(1, 50) g;
     CREATE MATERIALIZED VIEW ext_remote_kept AS SELECT * FROM ext_remote WITH NO DATA`,
  ],
  refint: [
    `CREATE TABLE ext_refint_up (id int4 NOT NULL); CREATE UNIQUE INDEX ON ext_refint_up (id);
     CREATE TABLE ext_refint (id int4 NOT NULL);
     CREATE TRIGGER known BEFORE INSERT OR UPDATE ON ext_refint FOR EACH ROW EXECUTE FUNCTION check_primary_key ('id', 'ext_refint_up', 'id');
     INSERT INTO ext_refint_up SELECT generate_series(1, 20); INSERT INTO ext_refint SELECT generate_series(1, 9)`,
  ],
  seg: [
    `CREATE TABLE ext_seg (id int PRIMARY KEY, s seg);
     INSERT INTO ext_seg SELECT g, (g || ' .. ' || g + 2)::seg FROM generate_series(1, 99) g; INSERT INTO ext_seg VALUES (0, '5.0(+-)0.3'), (-1, '<1.50'), (-2, '~7.00');
     CREATE INDEX ON ext_seg USING gist (s); CREATE INDEX ON ext_seg (s)`,
  ],
  tablefunc: [
    `CREATE VIEW ext_crosstab AS SELECT * FROM crosstab('SELECT 1, 2, 3') AS c (row int, value int)`,
  ],
  tcn: [
    `CREATE TABLE ext_tcn (id int PRIMARY KEY);
     CREATE TRIGGER said AFTER INSERT OR UPDATE ON ext_tcn FOR EACH ROW EXECUTE FUNCTION triggered_change_notification ('x');
     INSERT INTO ext_tcn SELECT generate_series(1, 20)`,
  ],
  tsm_system_rows: [
    'CREATE VIEW ext_sample AS SELECT relname FROM pg_class TABLESAMPLE system_rows (3)',
  ],
  unaccent: [
    `CREATE TEXT SEARCH CONFIGURATION ext_plain (COPY = french);
     ALTER TEXT SEARCH CONFIGURATION ext_plain ALTER MAPPING FOR hword, hword_part, word WITH unaccent, french_stem;
     CREATE TEXT SEARCH DICTIONARY ext_own_unaccent (TEMPLATE = unaccent, RULES = 'unaccent');
     CREATE FUNCTION ext_without(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT public.unaccent('public.unaccent'::regdictionary, $1) $$;
     CREATE TABLE ext_unaccent (id int PRIMARY KEY, t text, v tsvector);
     INSERT INTO ext_unaccent SELECT g, 'Hôtel été ' || g, to_tsvector('ext_plain', 'Hôtel été ' || g) FROM generate_series(1, 60) g;
     CREATE INDEX ON ext_unaccent (ext_without(t)); CREATE INDEX ON ext_unaccent USING gin (to_tsvector('public.ext_plain'::regconfig, t))`,
  ],
  'uuid-ossp': [
    `CREATE TABLE ext_uuid (id uuid DEFAULT uuid_generate_v4() PRIMARY KEY, n uuid DEFAULT uuid_generate_v5(uuid_ns_dns(), 'x'));
     INSERT INTO ext_uuid SELECT FROM generate_series(1, 40)`,
  ],
  xml2: [
    `CREATE TABLE ext_xml (id int PRIMARY KEY, x text);
     INSERT INTO ext_xml SELECT g, '<a><b>' || g || '</b></a>' FROM generate_series(1, 20) g;
     CREATE VIEW ext_xpath AS SELECT id, xpath_string(x, '/a/b') FROM ext_xml`,
  ],
}

/** Makes, in the database at hand, every extension that can be made there. */
const makeAll = `DO $$ DECLARE one name; BEGIN
  FOR one IN SELECT name FROM pg_catalog.pg_available_extensions ORDER BY 1 LOOP
    BEGIN
      EXECUTE pg_catalog.format('CREATE EXTENSION IF NOT EXISTS %I SCHEMA public CASCADE', one);
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END LOOP;
END $$`

async function loadable(
  fixture: MigrationFixture,
  side: 'source' | 'target',
): Promise<readonly string[]> {
  const trial = 'extension trial'
  await fixture.make(trial, [makeAll], side)
  await using server = await fixture.session(side, 'postgres')
  await using inside = await fixture.session(side, trial)
  const rows = await inside.rows<{ name: string }>(
    "SELECT extname AS name FROM pg_catalog.pg_extension WHERE extname <> 'plpgsql' ORDER BY 1",
  )
  await inside.client.end()
  await server.run(`DROP DATABASE ${quoteName(trial)} WITH (FORCE)`)
  return rows.map(({ name }) => name)
}

/** Returns the names of the extensions. */
export async function makeWithExtensions(
  fixture: MigrationFixture,
  database: string,
): Promise<readonly string[]> {
  const there = new Set(await loadable(fixture, 'target'))
  const names = (await loadable(fixture, 'source')).filter((name) => there.has(name))
  await fixture.make(database, [
    ...names.map((name) => `CREATE EXTENSION IF NOT EXISTS ${quoteName(name)} CASCADE`),
    ...names.flatMap((name) => uses[name] ?? []),
  ])
  return names
}
