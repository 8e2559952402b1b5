/**
 * A database as large applications have them, after the published structures of Northwind and MusicBrainz: thousands of foreign
 * keys, names of every kind, functions in checks and indexes, views on views, partitions and heirs whose columns stand in other
 * orders, every type of the server, grants through several hands. The same each time.
 */

import { quoteName } from '../postgres/connect.ts'

const keyedTables = 120
const keysEach = 12

const names: readonly string[] = [
  `CREATE SCHEMA "My.Schema"; CREATE SCHEMA "UPPER"; CREATE SCHEMA app; CREATE SCHEMA "sch ""q"" 'x'"`,
  `CREATE TABLE "My.Schema"."Ta.ble" ("Co.l" int PRIMARY KEY, "%s %I $1" text, "back\\slash" int, "new
line" int, " lead" int, "trail " int, "ünïcode ☃ 名前" text, "select" int, "User" text DEFAULT CURRENT_USER);
   INSERT INTO "My.Schema"."Ta.ble" SELECT g, 'x' || g, g, g, g, g, '☃' FROM generate_series(1, 60) g;
   CREATE INDEX "Idx. ""q""" ON "My.Schema"."Ta.ble" ("%s %I $1", lower("ünïcode ☃ 名前"));
   CREATE TABLE "UPPER"."${'L'.repeat(63)}" ("${'c'.repeat(63)}" serial PRIMARY KEY, "${'名'.repeat(21)}" text);
   INSERT INTO "UPPER"."${'L'.repeat(63)}" ("${'名'.repeat(21)}") SELECT 'x' FROM generate_series(1, 20);
   CREATE TABLE "sch ""q"" 'x'"."t 'y' ""z""" (id int PRIMARY KEY REFERENCES "My.Schema"."Ta.ble" ("Co.l"), "a'b" text);
   INSERT INTO "sch ""q"" 'x'"."t 'y' ""z""" VALUES (1, 'q'), (2, NULL);
   CREATE TABLE app."json" ("json" jsonb, "system_user" int, "merge" int PRIMARY KEY); CREATE INDEX ON app."json" ("system_user", "json");
   INSERT INTO app."json" VALUES ('{"a": 1}', 1, 1);
   CREATE TABLE "sch ""q"" 'x'"."-- no comment" ("/* none */" int); INSERT INTO "sch ""q"" 'x'"."-- no comment" VALUES (1)`,
]

const northwind: readonly string[] = [
  `CREATE TABLE categories (category_id smallint PRIMARY KEY, category_name varchar(15) NOT NULL, description text, picture bytea);
   INSERT INTO categories SELECT g, 'c' || g, E'tab\\t nl\\n \\\\N', decode(repeat(md5(g::text), 2000 * g), 'hex') FROM generate_series(1, 8) g;
   CREATE TABLE customers (customer_id char(5) PRIMARY KEY, company varchar(40) NOT NULL);
   INSERT INTO customers SELECT 'C' || g, 'company ' || g FROM generate_series(1, 91) g;
   CREATE TABLE employees (employee_id smallint PRIMARY KEY, reports_to smallint REFERENCES employees, hired date, photo bytea);
   INSERT INTO employees SELECT g, CASE g WHEN 1 THEN NULL ELSE g / 2 END, date '1992-01-01' + g, '' FROM generate_series(1, 9) g;
   CREATE TABLE orders (order_id smallint PRIMARY KEY, customer_id char(5) REFERENCES customers, employee_id smallint REFERENCES employees, freight real);
   INSERT INTO orders SELECT g, 'C' || 1 + g % 91, 1 + g % 9, g / 3.0 FROM generate_series(1, 830) g;
   CREATE TABLE order_details (order_id smallint REFERENCES orders, product_id smallint, unit_price real, quantity smallint, discount real, PRIMARY KEY (order_id, product_id));
   INSERT INTO order_details SELECT 1 + g % 830, g / 830, g / 7.0, g % 50, 0.05 FROM generate_series(0, 2154) g;
   CREATE TABLE customer_customer_demo (customer_id char(5) NOT NULL, type_id char(5) NOT NULL, PRIMARY KEY (customer_id, type_id));
   CREATE TABLE us_states (state_id smallint, state_abbr varchar(2)); INSERT INTO us_states SELECT g, 'S' FROM generate_series(1, 51) g`,
]

const functions: readonly string[] = [
  `CREATE FUNCTION app.padded(t text) RETURNS boolean LANGUAGE sql IMMUTABLE SET search_path TO app, public AS $$ SELECT t <> btrim(t) $$;
   CREATE FUNCTION app.tidy(t text) RETURNS boolean LANGUAGE sql IMMUTABLE SET search_path TO app, public AS $$ SELECT NOT padded(t) $$;
   CREATE FUNCTION app.folded(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN pg_catalog.lower(t); END $$;
   CREATE FUNCTION app.next_code() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'c' || nextval('codes'); END $$;
   CREATE SEQUENCE app.codes;
   SET search_path TO app, public;
   CREATE TABLE app.artist (id serial PRIMARY KEY, gid uuid NOT NULL UNIQUE, name text NOT NULL CHECK (app.tidy(name)), sort_name text COLLATE "C",
     begin_year smallint, code text DEFAULT app.next_code(), last_updated timestamptz DEFAULT now(), up text GENERATED ALWAYS AS (app.folded(name)) STORED,
     CONSTRAINT "either, or" CHECK ((begin_year IS NULL) OR begin_year > -3000) NO INHERIT);
   INSERT INTO app.artist (gid, name, sort_name, begin_year) SELECT md5(g::text)::uuid, 'Artist ' || g, 'a' || g, 1900 + g % 90 FROM generate_series(1, 400) g;
   CREATE INDEX ON app.artist (app.folded(name)) WHERE app.tidy(name);
   CREATE UNIQUE INDEX ON app.artist USING btree (lower(name) text_pattern_ops, id DESC NULLS LAST) INCLUDE (gid);
   CREATE TABLE app.counted (artists int); INSERT INTO app.counted VALUES (400);
   CREATE FUNCTION app.count_artists() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE counted SET artists = artists + 1; RETURN NULL; END $$;
   CREATE TRIGGER counts AFTER INSERT OR DELETE ON app.artist FOR EACH ROW EXECUTE FUNCTION app.count_artists();
   CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON app.artist DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.name IS DISTINCT FROM new.name) EXECUTE FUNCTION app.count_artists();
   CREATE TRIGGER always_on BEFORE UPDATE ON app.artist FOR EACH STATEMENT EXECUTE FUNCTION app.count_artists(); ALTER TABLE app.artist ENABLE ALWAYS TRIGGER always_on;
   CREATE TRIGGER as_replica BEFORE UPDATE ON app.artist FOR EACH STATEMENT EXECUTE FUNCTION app.count_artists(); ALTER TABLE app.artist ENABLE REPLICA TRIGGER as_replica;
   CREATE MATERIALIZED VIEW app.by_year AS SELECT begin_year, count(*) AS n, min(app.folded(name)) AS first FROM app.artist GROUP BY 1;
   CREATE UNIQUE INDEX ON app.by_year (begin_year);
   CREATE MATERIALIZED VIEW app.by_decade AS SELECT begin_year / 10 AS decade, sum(n) AS n FROM app.by_year GROUP BY 1;
   CREATE VIEW app.decades AS SELECT d.*, y.first FROM app.by_decade d JOIN app.by_year y ON y.begin_year / 10 = d.decade;
   CREATE MATERIALIZED VIEW app.top_decades AS SELECT * FROM app.decades ORDER BY n DESC, decade, first LIMIT 5;
   CREATE RECURSIVE VIEW app.chain (n) AS VALUES (1) UNION ALL SELECT n + 1 FROM chain WHERE n < 5;
   CREATE VIEW app.editable AS SELECT id, name FROM app.artist WHERE id < 100 WITH CASCADED CHECK OPTION;
   CREATE VIEW app.ruled AS SELECT id, name FROM app.artist;
   CREATE RULE ins AS ON INSERT TO app.ruled DO INSTEAD INSERT INTO app.counted VALUES (new.id) RETURNING artists, NULL::text;
   CREATE FUNCTION app.instead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN new; END $$;
   CREATE TRIGGER instead INSTEAD OF UPDATE ON app.editable FOR EACH ROW EXECUTE FUNCTION app.instead();
   CREATE TEXT SEARCH CONFIGURATION app.mb_simple (COPY = simple); ALTER TEXT SEARCH CONFIGURATION app.mb_simple ALTER MAPPING FOR word, asciiword WITH english_stem, simple;
   CREATE INDEX ON app.artist USING gin (to_tsvector('app.mb_simple'::regconfig, name));
   CREATE FUNCTION app.many(VARIADIC n int[] DEFAULT '{1,2}', OUT lowest int, OUT highest int) LANGUAGE sql AS $$ SELECT min(x), max(x) FROM unnest(n) x $$;
   CREATE FUNCTION app.rows_of() RETURNS SETOF app.artist LANGUAGE sql STABLE ROWS 7 COST 3 PARALLEL SAFE LEAKPROOF AS $$ SELECT * FROM app.artist $$;
   CREATE PROCEDURE app.work(INOUT n int) LANGUAGE plpgsql AS $$ BEGIN COMMIT; n := 1; END $$`,
  `CREATE AGGREGATE app.total (int) (SFUNC = int4pl, STYPE = int, INITCOND = '0', COMBINEFUNC = int4pl, PARALLEL = SAFE);
   CREATE TYPE app.ratio AS (n int, d int);
   CREATE FUNCTION app.ratio_cmp(a app.ratio, b app.ratio) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT pg_catalog.btint4cmp(a.n * b.d, b.n * a.d) $$;
   CREATE FUNCTION app.ratio_lt(a app.ratio, b app.ratio) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT app.ratio_cmp(a, b) < 0 $$;
   CREATE FUNCTION app.ratio_eq(a app.ratio, b app.ratio) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT app.ratio_cmp(a, b) = 0 $$;
   CREATE OPERATOR app.<<< (LEFTARG = app.ratio, RIGHTARG = app.ratio, FUNCTION = app.ratio_lt, COMMUTATOR = OPERATOR(app.>>>), RESTRICT = scalarltsel);
   CREATE OPERATOR app.=== (LEFTARG = app.ratio, RIGHTARG = app.ratio, FUNCTION = app.ratio_eq, COMMUTATOR = OPERATOR(app.===), MERGES);
   CREATE OPERATOR CLASS app.ratio_ops FOR TYPE app.ratio USING btree AS OPERATOR 1 app.<<<, OPERATOR 3 app.===, FUNCTION 1 app.ratio_cmp(app.ratio, app.ratio);
   CREATE TABLE app.ratios (r app.ratio); INSERT INTO app.ratios SELECT ROW(g, 7)::app.ratio FROM generate_series(1, 50) g; CREATE INDEX ON app.ratios (r app.ratio_ops);
   CREATE CAST (app.ratio AS text) WITH INOUT AS ASSIGNMENT; CREATE TYPE app.only_shell;
   CREATE COLLATION app.plain (locale = 'C'); CREATE DEFAULT CONVERSION app.conv FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8`,
]

const types: readonly string[] = [
  `CREATE TYPE app.colour AS ENUM ('red', 'it''s, "blue"', 'new
line', ''); ALTER TYPE app.colour ADD VALUE 'before' BEFORE 'red'`,
  `CREATE DOMAIN app.words AS text[] CHECK (array_length(value, 1) < 9); CREATE DOMAIN app.ratio_dom AS app.ratio CHECK ((value).d > 0);
   CREATE DOMAIN app.must AS varchar(20) COLLATE "C" DEFAULT 'given' NOT NULL CONSTRAINT short CHECK (length(value) < 20);
   CREATE TYPE app.spans AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = float8mi)`,
  `CREATE TABLE app.all_types (id int PRIMARY KEY, c app.colour, cs app.colour[], w app.words, rd app.ratio_dom, rds app.ratio_dom[], m app.must,
     sp app.spans, a app.artist, aa app.artist[], jp jsonpath, l pg_lsn, ts txid_snapshot, ov oidvector, iv int2vector, rt regtype, rp regprocedure,
     nm name, ch "char", x8 macaddr8, ln line, ls lseg, bx box, pa path, po polygon, ci circle, ri interval day to second(3), bt bit(3), vb varbit(9)[],
     t3 time(3), tz timetz, n2 numeric(12, 4)[], dr daterange, nr numrange[], rc refcursor, o oid, mm money[], big text)`,
  `INSERT INTO app.all_types SELECT g, 'it''s, "blue"', ARRAY['', NULL, 'new
line']::app.colour[], ARRAY['a', NULL, '{}'], ROW(g, 2)::app.ratio::app.ratio_dom, ARRAY[ROW(g, 1)::app.ratio]::app.ratio_dom[], 'm' || g, '[1.5,2.5)', (SELECT a FROM app.artist a WHERE a.id = 1 + g % 300),
     ARRAY[(SELECT a FROM app.artist a WHERE a.id = 1 + g % 200)], '$.a[*] ? (@ > 1)', '16/B374D848', '10:20:10,14,15', '1 2 3', '4 5', 'integer', 'pg_catalog.int4pl(int, int)', 'nom', 'z',
     '08:00:2b:01:02:03:04:05', '{1,2,3}', '[(0,0),(1,1)]', '(1,1),(0,0)', '((0,0),(1,1),(2,0))', '((0,0),(1,1),(2,0))', '<(1,1),2>', '3 days 04:05:06.789', B'101', ARRAY[B'1', NULL],
     '10:11:12.345', '24:00:00+14', ARRAY[1.5, NULL, 'NaN'], 'empty', ARRAY['[1,)'::numrange, NULL], 'cur', 4294967295, ARRAY['1.5'::money], repeat('x' || g, 3000) FROM generate_series(1, 30) g`,
  `CREATE TABLE app.typed OF app.ratio (n PRIMARY KEY, d WITH OPTIONS DEFAULT 1); INSERT INTO app.typed VALUES (1), (2);
   CREATE TABLE app.wide (${Array.from({ length: 800 }, (_, at) => `c${at} int DEFAULT ${at}`).join(', ')}); INSERT INTO app.wide DEFAULT VALUES;
   CREATE TABLE app.stubborn (a int, b json, c point, d xml); INSERT INTO app.stubborn SELECT g, '{"a": 1}', point(g, g), '<x/>' FROM generate_series(1, 30) g;
   CREATE TABLE app.full_one (a int, b text); ALTER TABLE app.full_one REPLICA IDENTITY FULL; INSERT INTO app.full_one VALUES (1, NULL), (1, NULL), (2, 'x');
   CREATE TABLE app.no_identity (a int, b text); ALTER TABLE app.no_identity REPLICA IDENTITY NOTHING; INSERT INTO app.no_identity VALUES (1, 'x');
   CREATE TABLE app.bookings (room int4range, during tsrange, EXCLUDE USING gist (room WITH &&, during WITH &&) DEFERRABLE); INSERT INTO app.bookings VALUES ('[1,2]', '[2020-01-01,2020-01-02)');
   CREATE TABLE app.spread (a inet, p point, t text); INSERT INTO app.spread SELECT '10.0.0.0'::inet + g, point(g, g % 7), 't' || g FROM generate_series(1, 200) g;
   CREATE INDEX ON app.spread USING gist (a inet_ops); CREATE INDEX ON app.spread USING spgist (p); CREATE INDEX ON app.spread USING spgist (t); CREATE INDEX ON app.spread USING brin (a) WITH (pages_per_range = 2)`,
]

const trees: readonly string[] = [
  `CREATE TABLE app.log (id bigint, at date NOT NULL, what text DEFAULT 'x', n int GENERATED ALWAYS AS (1) STORED) PARTITION BY RANGE (at);
   CREATE TABLE app.log_a (n int GENERATED ALWAYS AS (1) STORED, gone int, what text DEFAULT 'own', at date NOT NULL, id bigint); ALTER TABLE app.log_a DROP COLUMN gone;
   ALTER TABLE app.log ATTACH PARTITION app.log_a FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
   CREATE TABLE app.log_b PARTITION OF app.log (CONSTRAINT small CHECK (id < 1000000)) FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') PARTITION BY LIST ((id % 3));
   CREATE TABLE app.log_b0 PARTITION OF app.log_b FOR VALUES IN (0, 1) WITH (fillfactor = 60); CREATE TABLE app.log_bn PARTITION OF app.log_b FOR VALUES IN (2, NULL);
   CREATE TABLE "UPPER".log_rest PARTITION OF app.log DEFAULT PARTITION BY HASH (what); CREATE TABLE "UPPER".log_h0 PARTITION OF "UPPER".log_rest FOR VALUES WITH (MODULUS 2, REMAINDER 0);
   CREATE TABLE "UPPER".log_h1 PARTITION OF "UPPER".log_rest FOR VALUES WITH (MODULUS 2, REMAINDER 1);
   INSERT INTO app.log (id, at, what) SELECT g, date '2019-06-01' + g * 3, 'w' || g FROM generate_series(1, 500) g`,
  `CREATE INDEX log_id ON app.log (id); CREATE INDEX log_half ON ONLY app.log (what); CREATE INDEX log_half_a ON app.log_a (what); ALTER INDEX app.log_half ATTACH PARTITION app.log_half_a;
   CREATE TRIGGER seen AFTER INSERT ON app.log FOR EACH ROW EXECUTE FUNCTION app.count_artists(); ALTER TABLE app.log_a DISABLE TRIGGER seen;
   CREATE TABLE app.keyed_log (id int, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at); CREATE TABLE app.keyed_log_1 PARTITION OF app.keyed_log FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
   INSERT INTO app.keyed_log SELECT g, date '2020-01-01' FROM generate_series(1, 90) g;
   CREATE TABLE app.of_log (id int, at date, FOREIGN KEY (id, at) REFERENCES app.keyed_log ON DELETE CASCADE); INSERT INTO app.of_log SELECT * FROM app.keyed_log WHERE id < 40;
   CREATE TABLE app.mother (id int PRIMARY KEY, a int DEFAULT 1, CHECK (a > 0)); CREATE TABLE app.father (b text DEFAULT 'f', a int NOT NULL DEFAULT 2);
   CREATE TABLE app.kid (own int, a int DEFAULT 3) INHERITS (app.mother, app.father); ALTER TABLE app.kid ADD CONSTRAINT more CHECK (a < 100);
   ALTER TABLE app.mother ADD COLUMN later date DEFAULT '2020-02-02'; ALTER TABLE app.father ADD COLUMN last_one int;
   INSERT INTO app.mother SELECT g FROM generate_series(1, 10) g; INSERT INTO app.kid (id, own) SELECT g, g FROM generate_series(11, 40) g; INSERT INTO app.father DEFAULT VALUES;
   CREATE TABLE app.broken (a int, ref int); INSERT INTO app.broken VALUES (-1, 99999), (5, 1);
   ALTER TABLE app.broken ADD CONSTRAINT positive CHECK (a > 0) NOT VALID, ADD CONSTRAINT known FOREIGN KEY (ref) REFERENCES app.mother NOT VALID`,
  `CREATE TABLE app.chicken (id int PRIMARY KEY, egg int); CREATE TABLE app.egg (id int PRIMARY KEY, chicken int REFERENCES app.chicken DEFERRABLE); ALTER TABLE app.chicken ADD FOREIGN KEY (egg) REFERENCES app.egg DEFERRABLE INITIALLY DEFERRED;
   BEGIN; INSERT INTO app.chicken VALUES (1, 1), (2, NULL); INSERT INTO app.egg VALUES (1, 1), (2, 2); COMMIT;
   CREATE SEQUENCE app.shared AS int START 100 OWNED BY app.egg.id; CREATE TABLE "UPPER".uses (id int DEFAULT nextval('app.shared')); INSERT INTO "UPPER".uses SELECT FROM generate_series(1, 9);
   CREATE TABLE app.ident (a int GENERATED ALWAYS AS IDENTITY (START 50 INCREMENT -5 MINVALUE -500 MAXVALUE 60 CYCLE), b int GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME app."Odd Id")); INSERT INTO app.ident DEFAULT VALUES; INSERT INTO app.ident DEFAULT VALUES`,
  ...Array.from({ length: keyedTables }, (_, at) => {
    const keys = Array.from(
      { length: keysEach },
      (__, key) =>
        `r${key} int REFERENCES app.node_${(at * 7 + key * 11) % (at + 1)} ON DELETE SET NULL`,
    )
    return `CREATE TABLE app.node_${at} (id int PRIMARY KEY, ${keys.join(', ')});
      INSERT INTO app.node_${at} SELECT g, ${keys.map(() => '1').join(', ')} FROM generate_series(1, 3) g`
  }),
]

const rights: readonly string[] = [
  `GRANT USAGE ON SCHEMA app, "UPPER" TO app_group WITH GRANT OPTION; GRANT SELECT, UPDATE ON app.artist TO app_group WITH GRANT OPTION; SET ROLE app_group; GRANT SELECT ON app.artist TO app_user; GRANT USAGE ON SCHEMA app TO app_user; RESET ROLE;
   GRANT UPDATE (name), REFERENCES (id) ON app.artist TO app_user; GRANT USAGE ON TYPE app.colour TO app_user; REVOKE USAGE ON TYPE app.spans FROM PUBLIC; GRANT USAGE ON DOMAIN app.must TO app_user; GRANT USAGE ON LANGUAGE plpgsql TO app_user;
   GRANT EXECUTE ON FUNCTION app.tidy(text) TO app_user; REVOKE EXECUTE ON FUNCTION app.padded(text) FROM PUBLIC; GRANT USAGE, SELECT ON SEQUENCE app.codes TO app_user; REVOKE ALL ON app.counted FROM CURRENT_USER;
   ALTER TABLE app.full_one OWNER TO app_group; ALTER SCHEMA "UPPER" OWNER TO app_group; ALTER PROCEDURE app.work(int) OWNER TO app_user; ALTER TYPE app.ratio OWNER TO app_group; ALTER DOMAIN app.words OWNER TO app_user;
   ALTER DEFAULT PRIVILEGES FOR ROLE app_group GRANT SELECT ON TABLES TO app_user; ALTER DEFAULT PRIVILEGES FOR ROLE app_user IN SCHEMA app REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC; ALTER DEFAULT PRIVILEGES FOR ROLE app_user REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC; ALTER DEFAULT PRIVILEGES GRANT USAGE ON TYPES TO app_user;
   ALTER TABLE app.artist ENABLE ROW LEVEL SECURITY; ALTER TABLE app.artist FORCE ROW LEVEL SECURITY; CREATE POLICY mine ON app.artist AS RESTRICTIVE FOR UPDATE TO app_user, app_group USING (id IN (SELECT artists FROM app.counted)) WITH CHECK (app.tidy(name));
   CREATE STATISTICS app.both (ndistinct, mcv) ON begin_year, sort_name FROM app.artist; ALTER STATISTICS app.both SET STATISTICS 55;
   COMMENT ON CONSTRAINT "either, or" ON app.artist IS 'c'; COMMENT ON TRIGGER counts ON app.artist IS 't'; COMMENT ON POLICY mine ON app.artist IS 'p'; COMMENT ON RULE ins ON app.ruled IS 'r'; COMMENT ON INDEX app.log_id IS 'i'; COMMENT ON STATISTICS app.both IS 's';
   COMMENT ON CAST (app.ratio AS text) IS 'k'; COMMENT ON OPERATOR app.=== (app.ratio, app.ratio) IS 'o'; COMMENT ON AGGREGATE app.total (int) IS 'a'; COMMENT ON TYPE app.colour IS 'y'; COMMENT ON CONSTRAINT short ON DOMAIN app.must IS 'd'; COMMENT ON SCHEMA app IS 'h';
   COMMENT ON COLUMN app.ratio.n IS 'attribute'; COMMENT ON VIEW app.decades IS 'v'; COMMENT ON COLUMN app.decades.n IS 'vc'; COMMENT ON MATERIALIZED VIEW app.by_year IS 'm'; COMMENT ON SEQUENCE app.codes IS 'q'; COMMENT ON TEXT SEARCH CONFIGURATION app.mb_simple IS 'x'; COMMENT ON FUNCTION app.tidy(text) IS 'f'; COMMENT ON OPERATOR CLASS app.ratio_ops USING btree IS 'oc'; COMMENT ON COLLATION app.plain IS 'cl'; COMMENT ON LARGE OBJECT 777001 IS 'lo'`,
  `CREATE PUBLICATION app_some FOR TABLE app.artist, "My.Schema"."Ta.ble" WITH (publish = 'insert, delete'); CREATE PUBLICATION app_all FOR ALL TABLES WITH (publish = 'insert'); CREATE PUBLICATION app_none`,
  `ALTER TABLE app.artist CLUSTER ON artist_pkey; ALTER TABLE app.artist ALTER name SET STATISTICS 300, ALTER name SET (n_distinct = -0.5), ALTER sort_name SET STORAGE EXTERNAL; ALTER INDEX app.log_half_a SET (fillfactor = 80)`,
]

/** By the first major version that knows them. */
const newer: Readonly<Record<number, readonly string[]>> = {
  14: [
    `CREATE TABLE app.multi (id int PRIMARY KEY, m int4multirange, s tstzmultirange[], n numeric); INSERT INTO app.multi VALUES (1, '{[1,2], [5,9)}', '{}', 'Infinity');
     CREATE FUNCTION app.atomic(n int) RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT n + count(*)::int FROM app.artist; END;
     CREATE VIEW app.uses_atomic AS SELECT app.atomic(1) AS a; CREATE STATISTICS app.expressions ON (begin_year % 10), (lower(name)) FROM app.artist;
     CREATE TABLE app.compressed (t text COMPRESSION pglz); INSERT INTO app.compressed VALUES (repeat('y', 5000))`,
  ],
  15: [
    `CREATE VIEW app.invoker WITH (security_invoker) AS SELECT 1 AS one; CREATE TABLE app.nulls (a int, UNIQUE NULLS NOT DISTINCT (a)); INSERT INTO app.nulls VALUES (NULL);
     CREATE TABLE app.set_null (a int, b int, FOREIGN KEY (a) REFERENCES app.mother ON DELETE SET NULL (a)); CREATE TABLE app.rounded (n numeric(5, -2)); INSERT INTO app.rounded VALUES (12345);
     CREATE PUBLICATION app_filtered FOR TABLE app.artist (id, name, begin_year) WHERE (id > 10 AND begin_year IS NOT NULL)`,
    'CREATE PUBLICATION app_schema FOR TABLES IN SCHEMA "UPPER"',
  ],
}

/** Of the server, so perhaps there already. */
export const applicationRoles = `DO $$ BEGIN
  CREATE ROLE app_group NOLOGIN; CREATE ROLE app_user LOGIN PASSWORD 'x'; GRANT app_group TO app_user;
EXCEPTION WHEN duplicate_object THEN NULL; END $$`

export function applicationStructures(database: string, major: number): readonly string[] {
  return [
    `ALTER DATABASE ${quoteName(database)} SET search_path TO app, public`,
    ...names,
    ...northwind,
    ...functions,
    ...types,
    ...trees,
    'SELECT lo_from_bytea(777001, decode(repeat(md5($$x$$), 9000), $$hex$$))',
    ...rights,
    ...Object.entries(newer).flatMap(([first, statements]) =>
      major >= Number(first) ? statements : [],
    ),
  ]
}
