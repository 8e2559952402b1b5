/**
 * A database that holds one of every odd thing a migration has met (facts A.1), for tests. Small by default;
 * everything in it is reproducible, nothing in it is random.
 */

/** Roles are the server's, so they stand apart; made once. */
export const oddRoles: readonly string[] = [
  `CREATE ROLE odd_owner NOLOGIN`,
  `CREATE ROLE "odd Reader" LOGIN PASSWORD 'sesame' CONNECTION LIMIT 7 VALID UNTIL '2099-01-01'`,
  `CREATE ROLE odd_group NOLOGIN`,
  `GRANT odd_group TO "odd Reader" WITH ADMIN OPTION`,
  `ALTER ROLE "odd Reader" SET work_mem TO '8MB'`,
  `COMMENT ON ROLE odd_owner IS 'owns odd things; it''s one'`,
]

/** Of a database's own: run in it, in order. */
export function unusualObjects(database: string, rows = 2_000): readonly string[] {
  const quoted = `"${database.replaceAll('"', '""')}"`
  return [
    `CREATE EXTENSION hstore; CREATE EXTENSION citext; CREATE EXTENSION ltree;
     CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gist`,
    `CREATE SCHEMA "Odd Schema" AUTHORIZATION odd_owner`,
    `CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy "quoted"')`,
    `CREATE DOMAIN positive AS int CHECK (VALUE > 0)`,
    `CREATE DOMAIN small_positive AS positive CHECK (VALUE < 1000000)`,
    `CREATE TYPE pair AS (left_one int, right_one text)`,
    `CREATE TABLE everything (
       id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       mood mood, moods mood[], count positive, small small_positive, pair pair, pairs pair[],
       texts text[], h hstore, c citext, path ltree, j jsonb, jo json, x xml, address inet, net cidr,
       mac macaddr, u uuid, r int4range, tr tstzrange, f8 float8, f4 float4, n numeric,
       b bytea, bits varbit, p point, i interval, m money, v tsvector, q tsquery,
       at timestamptz, plain timestamp, day date, clock timetz, ch "char", fixed char(5), rc regclass,
       sum bigint GENERATED ALWAYS AS (coalesce(count, 0) * 2) STORED,
       "Odd ""Name""" text DEFAULT 'with ''quotes''', "ünï" text)`,
    `INSERT INTO everything (mood, moods, count, small, pair, pairs, texts, h, c, path, j, jo, x, address,
       net, mac, u, r, tr, f8, f4, n, b, bits, p, i, m, v, q, at, plain, day, clock, ch, fixed, rc,
       "Odd ""Name""", "ünï")
     SELECT (ARRAY['sad', 'ok', 'happy "quoted"'])[1 + g % 3]::mood,
       CASE g % 4 WHEN 0 THEN NULL ELSE ARRAY['sad', NULL, 'happy "quoted"']::mood[] END,
       1 + g, 1 + g % 500, ROW(g, 'a "b" (c), d')::pair, ARRAY[ROW(g, NULL)::pair],
       ARRAY['plain', NULL, 'quo"te', 'back\\slash', '{brace}', ''],
       hstore('k' || g, 'v "x"'), 'CiText' || g, ('top.n' || g)::ltree,
       jsonb_build_object('g', g, 'deep', jsonb_build_array(1, NULL, 'x')), '{"a":  1}', '<a>t<b/></a>',
       '10.0.0.1'::inet + g, '10.1.0.0/16', '08:00:2b:01:02:03', md5(g::text)::uuid,
       int4range(g, g + 5), tstzrange('2020-01-01', NULL),
       (ARRAY['NaN', 'Infinity', '-Infinity', '0.1', '1e-300'])[1 + g % 5]::float8, g / 3.0,
       CASE g % 7 WHEN 0 THEN 'NaN' ELSE (g * 1.000000000000000000001)::numeric END,
       decode(md5(g::text), 'hex'), (g % 16)::bit(8)::varbit, point(g, -g), make_interval(days => g, secs => 0.5),
       (g * 1.25)::numeric::money, to_tsvector('english', 'the quick fox ' || g), to_tsquery('quick & fox'),
       CASE g % 5 WHEN 0 THEN 'infinity' ELSE timestamptz '2020-02-29 12:00:00.123456+05:30' + g * interval '1 s' END,
       timestamp '0044-03-15 12:00:00 BC', CASE g % 5 WHEN 1 THEN '-infinity' ELSE date '1999-12-31' + g END,
       '10:20:30.5+02', 'z', 'ab', 'pg_class'::regclass,
       E'tab\\t new\\nline \\\\N bell\\x07 ' || g, 'größer ' || g
     FROM generate_series(1, ${rows}) g`,
    `CREATE INDEX ON everything USING gin (v); CREATE INDEX ON everything USING gist (path);
     CREATE INDEX ON everything (lower(c::text)) WHERE count > 5;
     CREATE INDEX ON everything USING gin (c gin_trgm_ops)`,
    `CREATE TABLE parent (id int PRIMARY KEY, up int REFERENCES parent DEFERRABLE INITIALLY DEFERRED, t text)`,
    `INSERT INTO parent SELECT g, CASE g WHEN 1 THEN NULL ELSE g - 1 END, repeat('t', g % 100)
     FROM generate_series(1, ${rows}) g`,
    `CREATE TABLE child (id serial PRIMARY KEY, parent_id int NOT NULL REFERENCES parent, note text)`,
    `INSERT INTO child (parent_id, note) SELECT 1 + g % ${rows}, 'note ' || g FROM generate_series(0, ${rows}) g`,
    `CREATE TABLE audit (at timestamptz DEFAULT now(), what text)`,
    `CREATE FUNCTION audit_child() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN INSERT INTO public.audit (what) VALUES (TG_OP); RETURN NULL; END $$`,
    `CREATE TRIGGER child_audit AFTER INSERT OR UPDATE OR DELETE ON child
     FOR EACH ROW EXECUTE FUNCTION audit_child()`,
    `CREATE TABLE measure (city int, at date NOT NULL, v float8, PRIMARY KEY (city, at)) PARTITION BY RANGE (at);
     CREATE TABLE measure_old PARTITION OF measure FOR VALUES FROM (MINVALUE) TO ('2020-01-01');
     CREATE TABLE measure_new PARTITION OF measure FOR VALUES FROM ('2020-01-01') TO ('2030-01-01')
       PARTITION BY LIST (city);
     CREATE TABLE measure_new_1 PARTITION OF measure_new FOR VALUES IN (1, 2);
     CREATE TABLE measure_new_d PARTITION OF measure_new DEFAULT`,
    `INSERT INTO measure SELECT g % 5, date '2015-01-01' + g * 2, g FROM generate_series(1, ${rows}) g`,
    `CREATE TABLE ancestor (id int PRIMARY KEY, a text); CREATE TABLE heir (b text) INHERITS (ancestor);
     ALTER TABLE heir ADD PRIMARY KEY (id);
     INSERT INTO ancestor SELECT g, 'a' FROM generate_series(1, 10) g;
     INSERT INTO heir SELECT g, 'h', 'b' FROM generate_series(11, 30) g`,
    `CREATE TABLE no_key (a int, b text); INSERT INTO no_key SELECT g % 50, 'x' FROM generate_series(1, 500) g`,
    `CREATE TABLE by_index (a int NOT NULL, b text); CREATE UNIQUE INDEX by_index_a ON by_index (a);
     ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_a;
     INSERT INTO by_index SELECT g, 'y' FROM generate_series(1, 100) g`,
    `CREATE TABLE nothing_known (a int PRIMARY KEY); ALTER TABLE nothing_known REPLICA IDENTITY NOTHING;
     INSERT INTO nothing_known VALUES (1)`,
    `CREATE TABLE generated_key (x int, y int GENERATED ALWAYS AS (x * 2) STORED PRIMARY KEY);
     INSERT INTO generated_key SELECT generate_series(1, 50)`,
    `CREATE TABLE generated_index (x int, y int GENERATED ALWAYS AS (x * 2) STORED, t text); CREATE INDEX ON generated_index (x, y);
     INSERT INTO generated_index (x, t) SELECT g, 'z' FROM generate_series(1, 50) g`,
    `CREATE UNLOGGED TABLE scratch (id int PRIMARY KEY, t text);
     INSERT INTO scratch SELECT g, 's' || g FROM generate_series(1, 300) g`,
    `CREATE TABLE booking (room int, during tsrange, EXCLUDE USING gist (room WITH =, during WITH &&));
     INSERT INTO booking VALUES (1, '[2020-01-01, 2020-01-02)'), (1, '[2020-01-02, 2020-01-03)')`,
    `CREATE TABLE "Odd Schema"."Odd Table" ("a b" int PRIMARY KEY, "select" text);
     INSERT INTO "Odd Schema"."Odd Table" VALUES (1, 'from'), (2, NULL)`,
    `CREATE TABLE empty_one (id int PRIMARY KEY)`,
    `CREATE TABLE no_columns (); INSERT INTO no_columns DEFAULT VALUES`,
    `CREATE TABLE dropped_column (a int, b int, c int); ALTER TABLE dropped_column DROP COLUMN b;
     INSERT INTO dropped_column VALUES (1, 3)`,
    `CREATE VIEW child_view AS SELECT c.id, p.t FROM child c JOIN parent p ON p.id = c.parent_id`,
    `CREATE MATERIALIZED VIEW child_count AS SELECT parent_id, count(*) FROM child GROUP BY 1;
     CREATE UNIQUE INDEX ON child_count (parent_id);
     CREATE MATERIALIZED VIEW child_total AS SELECT sum(count) AS total FROM child_count;
     CREATE MATERIALIZED VIEW never_filled AS SELECT 1 AS one WITH NO DATA`,
    `CREATE RULE no_truncation AS ON DELETE TO by_index DO ALSO NOTHING`,
    `CREATE SEQUENCE counted START 10 INCREMENT 5; SELECT nextval('counted'), nextval('counted');
     CREATE SEQUENCE untouched START 77; CREATE SEQUENCE "Odd Seq" MAXVALUE 9 CYCLE;
     SELECT setval('"Odd Seq"', 4, false)`,
    `CREATE TABLE secret (who text, what text); ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
     CREATE POLICY own ON secret FOR SELECT TO "odd Reader" USING (who = current_user);
     COMMENT ON POLICY own ON secret IS 'own rows';
     INSERT INTO secret VALUES ('odd Reader', 'a'), ('other', 'b'); ALTER TABLE secret OWNER TO odd_owner`,
    `GRANT SELECT (id, parent_id) ON child TO "odd Reader"; GRANT ALL ON parent TO odd_group WITH GRANT OPTION;
     REVOKE EXECUTE ON FUNCTION audit_child() FROM PUBLIC;
     ALTER DEFAULT PRIVILEGES FOR ROLE odd_owner IN SCHEMA "Odd Schema" GRANT SELECT ON TABLES TO "odd Reader"`,
    `COMMENT ON TABLE parent IS 'it''s a "parent"'; COMMENT ON COLUMN child.note IS 'noted'`,
    `CREATE STATISTICS parent_stats ON id, up FROM parent; ALTER TABLE parent ALTER COLUMN t SET STATISTICS 500`,
    // The negator was only named, and stays in the catalog without a function.
    `CREATE OPERATOR === (LEFTARG = boolean, RIGHTARG = boolean, FUNCTION = booleq, COMMUTATOR = ===, NEGATOR = !==);
     DROP OPERATOR === (boolean, boolean);
     CREATE OPERATOR @#@ (RIGHTARG = int, FUNCTION = int4abs); CREATE OPERATOR @#@ (RIGHTARG = bigint, FUNCTION = int8abs)`,
    `CREATE COLLATION IF NOT EXISTS odd_collation (locale = 'C')`,
    `SELECT lo_from_bytea(900000 + g, decode(repeat(md5(g::text), g), 'hex')) FROM generate_series(1, 20) g;
     SELECT lo_create(950000);
     SELECT lo_from_bytea(950001, decode(repeat('ab', 2500000), 'hex'));
     ALTER LARGE OBJECT 900001 OWNER TO odd_owner; GRANT SELECT ON LARGE OBJECT 900002 TO "odd Reader"`,
    `CREATE FUNCTION odd_event() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$;
     CREATE EVENT TRIGGER odd_event ON ddl_command_end EXECUTE FUNCTION odd_event()`,
    `ALTER DATABASE ${quoted} SET search_path TO public, "Odd Schema";
     ALTER DATABASE ${quoted} SET statement_timeout TO '5s';
     ALTER ROLE "odd Reader" IN DATABASE ${quoted} SET work_mem TO '5MB';
     COMMENT ON DATABASE ${quoted} IS 'odd things';
     GRANT CREATE ON DATABASE ${quoted} TO odd_group; REVOKE TEMPORARY ON DATABASE ${quoted} FROM PUBLIC;
     ALTER DATABASE ${quoted} CONNECTION LIMIT 90`,
  ]
}
