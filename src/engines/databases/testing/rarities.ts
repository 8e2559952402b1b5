/**
 * A database with what few have and PostgreSQL's own tests make: types, operators, languages and access methods of its own, foreign
 * data, dictionaries, views that a dump takes in two steps, circles of every kind, and values at the ends of their ranges. The same
 * each time.
 */

import { quoteName } from '../postgres/connect.ts'

const ownTypes: readonly string[] = [
  `CREATE TYPE widget; CREATE FUNCTION widget_in(cstring) RETURNS widget LANGUAGE internal STRICT IMMUTABLE AS 'int4in';
   CREATE FUNCTION widget_out(widget) RETURNS cstring LANGUAGE internal STRICT IMMUTABLE AS 'int4out';
   CREATE FUNCTION widget_receive(internal) RETURNS widget LANGUAGE internal STRICT IMMUTABLE AS 'int4recv';
   CREATE FUNCTION widget_send(widget) RETURNS bytea LANGUAGE internal STRICT IMMUTABLE AS 'int4send';
   CREATE TYPE widget (INPUT = widget_in, OUTPUT = widget_out, RECEIVE = widget_receive, SEND = widget_send, LIKE = int4, CATEGORY = 'N', DEFAULT = '7', DELIMITER = ';');
   CREATE CAST (widget AS int4) WITHOUT FUNCTION AS ASSIGNMENT; CREATE CAST (int4 AS widget) WITHOUT FUNCTION AS IMPLICIT;
   CREATE CAST (text AS widget) WITH INOUT; CREATE FUNCTION widget_of(boolean) RETURNS widget LANGUAGE sql IMMUTABLE AS 'SELECT $1::int4::public.widget'; CREATE CAST (boolean AS widget) WITH FUNCTION widget_of(boolean)`,
  `CREATE FUNCTION widget_lt(widget, widget) RETURNS boolean LANGUAGE internal STRICT IMMUTABLE AS 'int4lt'; CREATE FUNCTION widget_le(widget, widget) RETURNS boolean LANGUAGE internal STRICT IMMUTABLE AS 'int4le';
   CREATE FUNCTION widget_eq(widget, widget) RETURNS boolean LANGUAGE internal STRICT IMMUTABLE AS 'int4eq'; CREATE FUNCTION widget_ge(widget, widget) RETURNS boolean LANGUAGE internal STRICT IMMUTABLE AS 'int4ge';
   CREATE FUNCTION widget_gt(widget, widget) RETURNS boolean LANGUAGE internal STRICT IMMUTABLE AS 'int4gt'; CREATE FUNCTION widget_cmp(widget, widget) RETURNS int LANGUAGE internal STRICT IMMUTABLE AS 'btint4cmp';
   CREATE FUNCTION widget_hash(widget) RETURNS int LANGUAGE internal STRICT IMMUTABLE AS 'hashint4';
   CREATE OPERATOR < (LEFTARG = widget, RIGHTARG = widget, FUNCTION = widget_lt, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
   CREATE OPERATOR <= (LEFTARG = widget, RIGHTARG = widget, FUNCTION = widget_le, COMMUTATOR = >=, NEGATOR = >);
   CREATE OPERATOR = (LEFTARG = widget, RIGHTARG = widget, FUNCTION = widget_eq, COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
   CREATE OPERATOR >= (LEFTARG = widget, RIGHTARG = widget, FUNCTION = widget_ge, COMMUTATOR = <=, NEGATOR = <); CREATE OPERATOR > (LEFTARG = widget, RIGHTARG = widget, FUNCTION = widget_gt, COMMUTATOR = <, NEGATOR = <=);
   CREATE OPERATOR FAMILY widget_family USING btree; CREATE OPERATOR CLASS widget_btree DEFAULT FOR TYPE widget USING btree FAMILY widget_family AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 widget_cmp(widget, widget);
   CREATE OPERATOR CLASS widget_hashed DEFAULT FOR TYPE widget USING hash AS OPERATOR 1 =, FUNCTION 1 widget_hash(widget);
   CREATE FUNCTION widget_int_eq(widget, int4) RETURNS boolean LANGUAGE internal STRICT IMMUTABLE AS 'int4eq'; CREATE OPERATOR = (LEFTARG = widget, RIGHTARG = int4, FUNCTION = widget_int_eq, MERGES);
   CREATE FUNCTION widget_int_cmp(widget, int4) RETURNS int LANGUAGE internal STRICT IMMUTABLE AS 'btint4cmp'; ALTER OPERATOR FAMILY widget_family USING btree ADD OPERATOR 3 = (widget, int4), FUNCTION 1 (widget, int4) widget_int_cmp(widget, int4)`,
  `CREATE TYPE widget_range AS RANGE (SUBTYPE = widget, SUBTYPE_OPCLASS = widget_btree); CREATE TYPE text_range AS RANGE (SUBTYPE = text, COLLATION = "C", SUBTYPE_OPCLASS = text_pattern_ops);
   CREATE TABLE gadget (id widget PRIMARY KEY, w widget DEFAULT '3', ws widget[], r widget_range, t text_range, CHECK (w < '100000'::widget));
   INSERT INTO gadget SELECT g, g * 2, ARRAY[g, NULL, 5]::widget[], widget_range(g, g + 3), text_range('a' || g, 'b' || g) FROM generate_series(1, 90) g;
   CREATE INDEX ON gadget USING hash (w); CREATE INDEX ON gadget (w DESC) INCLUDE (ws) WHERE w > '5'::widget; CREATE INDEX ON gadget USING gist (r); CREATE INDEX ON gadget USING gin (ws array_ops)
   `,
  `CREATE TYPE pair_of AS (a int, b text COLLATE "C"); CREATE TYPE nest AS (p pair_of, ps pair_of[], at timestamptz); CREATE DOMAIN pair_checked AS pair_of CHECK ((VALUE).a IS NULL OR (VALUE).a < 1000000) NOT NULL DEFAULT ROW(1, 'one');
   CREATE DOMAIN level_1 AS int CHECK (VALUE <> 13); CREATE DOMAIN level_2 AS level_1 DEFAULT 4 CONSTRAINT small CHECK (VALUE < 500); CREATE DOMAIN level_3 AS level_2[] CHECK (array_ndims(VALUE) = 1);
   ALTER DOMAIN level_1 ADD CONSTRAINT later CHECK (VALUE > -1000) NOT VALID; COMMENT ON CONSTRAINT small ON DOMAIN level_2 IS 'small one';
   CREATE TYPE sizes AS ENUM ('s', 'l')`,
  `ALTER TYPE sizes ADD VALUE 'm' BEFORE 'l'; ALTER TYPE sizes ADD VALUE 'xs' BEFORE 's'; ALTER TYPE sizes RENAME VALUE 'l' TO 'large one'; CREATE TYPE nothing_in_it AS ENUM ()`,
  ` CREATE TYPE empty_row AS ();
   CREATE TABLE nested (id int PRIMARY KEY, n nest, ns nest[], c pair_checked, l level_2, ls level_3, s sizes[], e empty_row);
   INSERT INTO nested SELECT g, ROW(ROW(g, 'a "b", \\ (c)'), ARRAY[ROW(1, NULL)::pair_of, NULL], 'infinity')::nest, ARRAY[ROW(NULL, '{}', '-infinity')::nest, NULL], ROW(g, NULL)::pair_of, g, ARRAY[1, g]::level_2[], ARRAY['xs', 'm', NULL]::sizes[], NULL FROM generate_series(20, 70) g;
   CREATE INDEX ON nested (((c).a), s); CREATE UNIQUE INDEX ON nested (((n).p))`,
]

const ownRoutines: readonly string[] = [
  `CREATE FUNCTION plus_later(a int, b int, c int DEFAULT 5, VARIADIC rest int[] DEFAULT ARRAY[]::int[]) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL RESTRICTED AS 'SELECT $1 + $2 + $3';
   CREATE FUNCTION table_of(n int, OUT a int, OUT "B b" text) RETURNS SETOF record LANGUAGE sql COST 7 ROWS 3 AS 'SELECT $1, $1::text'; CREATE FUNCTION returns_table(p anyelement) RETURNS TABLE (x anyelement, y anyarray) LANGUAGE sql AS 'SELECT $1, ARRAY[$1]';
   CREATE FUNCTION "trim"(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'; CREATE FUNCTION "quoted ""fn"""("a b" int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET work_mem TO '4MB' SET search_path TO public, "$user" SET datestyle FROM CURRENT AS $fn$ BEGIN RETURN $1; /* $$ */ END $fn$;
   CREATE PROCEDURE step(INOUT a int, INOUT b text DEFAULT 'x''y') LANGUAGE plpgsql AS $$ BEGIN a := a + 1; END $$; CREATE FUNCTION first_transition(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, $2)';
   CREATE AGGREGATE newest (int) (SFUNC = first_transition, STYPE = int, SORTOP = >); CREATE AGGREGATE moving (numeric) (SFUNC = numeric_add, STYPE = numeric, MSFUNC = numeric_add, MINVFUNC = numeric_sub, MSTYPE = numeric, INITCOND = '0', MINITCOND = '0');
   CREATE AGGREGATE median_of (float8 ORDER BY anyelement) (SFUNC = ordered_set_transition, STYPE = internal, FINALFUNC = percentile_disc_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE);
   CREATE AGGREGATE rank_of (VARIADIC "any" ORDER BY VARIADIC "any") (SFUNC = ordered_set_transition_multi, STYPE = internal, FINALFUNC = rank_final, HYPOTHETICAL); CREATE AGGREGATE any_count (*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0');
   CREATE AGGREGATE summed (VARIADIC n int[]) (SFUNC = array_larger, STYPE = int[])`,
  `CREATE FUNCTION other_handler() RETURNS language_handler LANGUAGE c AS '$libdir/plpgsql', 'plpgsql_call_handler'; CREATE LANGUAGE other_plpgsql HANDLER other_handler; COMMENT ON LANGUAGE other_plpgsql IS 'other'; REVOKE USAGE ON LANGUAGE sql FROM PUBLIC; GRANT USAGE ON LANGUAGE sql TO PUBLIC;
   CREATE FUNCTION in_other(int) RETURNS int LANGUAGE other_plpgsql AS 'BEGIN RETURN $1; END';
   CREATE TRANSFORM FOR int LANGUAGE sql (FROM SQL WITH FUNCTION prsd_lextype(internal), TO SQL WITH FUNCTION int4recv(internal)); CREATE FUNCTION transformed(int) RETURNS int LANGUAGE sql TRANSFORM FOR TYPE int AS 'SELECT $1'; COMMENT ON TRANSFORM FOR int LANGUAGE sql IS 'tr';
   CREATE ACCESS METHOD other_gist TYPE INDEX HANDLER gisthandler; COMMENT ON ACCESS METHOD other_gist IS 'am'; CREATE ACCESS METHOD other_heap TYPE TABLE HANDLER heap_tableam_handler;
   CREATE OPERATOR CLASS other_boxes DEFAULT FOR TYPE box USING other_gist AS OPERATOR 3 &&, OPERATOR 7 @>, FUNCTION 1 gist_box_consistent(internal, box, smallint, oid, internal), FUNCTION 2 gist_box_union(internal, internal), FUNCTION 5 gist_box_penalty(internal, internal, internal), FUNCTION 6 gist_box_picksplit(internal, internal), FUNCTION 7 gist_box_same(box, box, internal);
   CREATE TABLE in_other_heap (id int PRIMARY KEY, b box) USING other_heap; INSERT INTO in_other_heap SELECT g, box(point(g, g), point(0, 0)) FROM generate_series(1, 50) g; CREATE INDEX ON in_other_heap USING other_gist (b)`,
  `CREATE TEXT SEARCH PARSER own_parser (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype, HEADLINE = prsd_headline); CREATE TEXT SEARCH TEMPLATE own_template (INIT = dsimple_init, LEXIZE = dsimple_lexize);
   CREATE TEXT SEARCH DICTIONARY own_words (TEMPLATE = own_template, Accept = false, StopWords = english); CREATE TEXT SEARCH DICTIONARY "Own stems" (TEMPLATE = snowball, Language = german);
   CREATE TEXT SEARCH CONFIGURATION own_search (PARSER = own_parser); ALTER TEXT SEARCH CONFIGURATION own_search ADD MAPPING FOR asciiword, word, numword WITH own_words, "Own stems", simple; ALTER TEXT SEARCH CONFIGURATION own_search ADD MAPPING FOR email, url WITH simple;
   CREATE TABLE searched (id int PRIMARY KEY, t text, v tsvector GENERATED ALWAYS AS (to_tsvector('public.own_search'::regconfig, t)) STORED); INSERT INTO searched (id, t) SELECT g, 'Häuser und words ' || g || ' a@b.example' FROM generate_series(1, 60) g;
   CREATE INDEX ON searched USING gin (v); CREATE TRIGGER fills BEFORE INSERT ON searched FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger(); DROP TRIGGER fills ON searched;
   COMMENT ON TEXT SEARCH PARSER own_parser IS 'tsp'; COMMENT ON TEXT SEARCH TEMPLATE own_template IS 'tst'; COMMENT ON TEXT SEARCH DICTIONARY own_words IS 'tsd'; CREATE CONVERSION own_conversion FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8; COMMENT ON CONVERSION own_conversion IS 'cv'`,
]

const foreignData: readonly string[] = [
  `CREATE FOREIGN DATA WRAPPER own_wrapper OPTIONS (debug 'true', "odd ""key""" 'it''s'); CREATE SERVER "own server" TYPE 'odd' VERSION '1.2' FOREIGN DATA WRAPPER own_wrapper OPTIONS (host 'there.example', b '2', a '1');
   CREATE USER MAPPING FOR PUBLIC SERVER "own server" OPTIONS (password 'hush'); CREATE USER MAPPING FOR rare_user SERVER "own server"; COMMENT ON SERVER "own server" IS 'srv'; COMMENT ON FOREIGN DATA WRAPPER own_wrapper IS 'fdw';
   GRANT USAGE ON FOREIGN DATA WRAPPER own_wrapper TO rare_group WITH GRANT OPTION; GRANT USAGE ON FOREIGN SERVER "own server" TO rare_user; ALTER SERVER "own server" OWNER TO rare_group;
   CREATE FOREIGN TABLE far (id int OPTIONS (key 'yes', column_name 'ID') NOT NULL, t text COLLATE "C" DEFAULT 'far', CONSTRAINT far_check CHECK (id > 0)) SERVER "own server" OPTIONS (z '1', "schema" 's'); COMMENT ON FOREIGN TABLE far IS 'ft'; COMMENT ON COLUMN far.t IS 'ftc'; GRANT SELECT (id) ON far TO rare_user;
   CREATE TABLE near_and_far (id int, t text) PARTITION BY LIST (id); CREATE FOREIGN TABLE far_part PARTITION OF near_and_far FOR VALUES IN (1) SERVER "own server"; CREATE TABLE near_part PARTITION OF near_and_far FOR VALUES IN (2, 3); INSERT INTO near_and_far VALUES (2, 'near'), (3, NULL);
   CREATE TABLE far_parent (id int NOT NULL, t text); CREATE FOREIGN TABLE far_child (more date) INHERITS (far_parent) SERVER "own server"; ALTER FOREIGN TABLE far ALTER t SET STATISTICS 77, ALTER t SET STORAGE MAIN; CREATE VIEW sees_far AS SELECT id FROM far`,
]

const views: readonly string[] = [
  // Dumped as an empty view first, since it needs a key.
  `CREATE TABLE keyed (id int PRIMARY KEY, a text, b int NOT NULL DEFAULT 2, gone int, c date); ALTER TABLE keyed DROP COLUMN gone; INSERT INTO keyed SELECT g, 'a' || g % 5, g, date '2020-01-01' + g FROM generate_series(1, 80) g;
   CREATE VIEW by_key WITH (security_barrier) AS SELECT k.*, count(n.id) AS n FROM keyed k LEFT JOIN nested n ON n.id = k.id GROUP BY k.id; COMMENT ON VIEW by_key IS 'bk'; COMMENT ON COLUMN by_key.n IS 'bkn'; GRANT SELECT ON by_key TO rare_user; ALTER VIEW by_key ALTER a SET DEFAULT 'of the view';
   CREATE VIEW on_by_key AS SELECT n FROM by_key; CREATE RULE quiet AS ON INSERT TO by_key DO INSTEAD NOTHING; CREATE FUNCTION of_by_key(by_key) RETURNS int LANGUAGE sql AS 'SELECT $1.id'; CREATE TABLE typed_by_view (v by_key);
   CREATE MATERIALIZED VIEW kept_by_key AS SELECT k.id, k.a, k.b, sum(k.b) AS s FROM keyed k GROUP BY k.id; CREATE UNIQUE INDEX kept_by_key_id ON kept_by_key (id); CREATE INDEX ON kept_by_key (a, s); COMMENT ON INDEX kept_by_key_id IS 'kbk'; COMMENT ON MATERIALIZED VIEW kept_by_key IS 'kb'; GRANT SELECT ON kept_by_key TO rare_user; ALTER MATERIALIZED VIEW kept_by_key CLUSTER ON kept_by_key_id;
   CREATE MATERIALIZED VIEW on_kept AS SELECT a, count(*) AS n FROM kept_by_key GROUP BY a; CREATE UNIQUE INDEX ON on_kept (a); CREATE VIEW on_on_kept AS SELECT * FROM on_kept; ALTER MATERIALIZED VIEW on_kept ALTER a SET STATISTICS 33, ALTER a SET STORAGE EXTERNAL; CREATE STATISTICS of_kept ON a, b FROM kept_by_key`,
  `CREATE VIEW circling_view AS SELECT 1 AS one, 'x'::text AS t; CREATE FUNCTION of_circle() RETURNS SETOF circling_view LANGUAGE sql AS 'SELECT 2, ''y''::text'; CREATE OR REPLACE VIEW circling_view AS SELECT one, t FROM of_circle();
   CREATE TABLE fills_a (id int PRIMARY KEY DEFAULT 0, b int); CREATE TABLE fills_b (id int PRIMARY KEY DEFAULT 0, a int); CREATE FUNCTION next_a() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT coalesce(max(id), 0) + 1 FROM public.fills_a); END'; CREATE FUNCTION next_b() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT coalesce(max(id), 0) + 1 FROM public.fills_b); END';
   ALTER TABLE fills_a ALTER id SET DEFAULT next_b(); ALTER TABLE fills_b ALTER id SET DEFAULT next_a(); INSERT INTO fills_a DEFAULT VALUES; INSERT INTO fills_b DEFAULT VALUES; ALTER TABLE fills_a ADD FOREIGN KEY (b) REFERENCES fills_b DEFERRABLE; ALTER TABLE fills_b ADD FOREIGN KEY (a) REFERENCES fills_a ON UPDATE CASCADE ON DELETE SET DEFAULT;
   CREATE TABLE row_of_itself (id int PRIMARY KEY); CREATE FUNCTION is_row(row_of_itself) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'; ALTER TABLE row_of_itself ADD CHECK (is_row(row_of_itself.*)); INSERT INTO row_of_itself VALUES (1); CREATE DOMAIN in_circle AS int; CREATE FUNCTION is_in_circle(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1::public.in_circle > 0'; ALTER DOMAIN in_circle ADD CHECK (is_in_circle(VALUE)); CREATE TABLE circling (c in_circle)`,
  `CREATE VIEW wide_view AS SELECT row_number() OVER w AS rn, lag(k.b, 2, 0) OVER (PARTITION BY k.a ORDER BY k.c RANGE BETWEEN '3 days' PRECEDING AND CURRENT ROW EXCLUDE TIES) AS lagged, grouping(x) AS g, s.ordinality, l.*, CASE WHEN k.a LIKE 'a%' ESCAPE '!' THEN k.a COLLATE "C" END AS cased, (SELECT array_agg(DISTINCT q ORDER BY q DESC NULLS LAST) FILTER (WHERE q > 1) FROM unnest(ARRAY[1, 2]) q) AS agg
     FROM keyed k TABLESAMPLE bernoulli (50) REPEATABLE (3) CROSS JOIN LATERAL (SELECT k.b + 1 AS plus, extract(epoch FROM k.c) AS ep) l, ROWS FROM (generate_series(1, 2), unnest(ARRAY['p', 'q'])) WITH ORDINALITY AS s (n, x, ordinality) GROUP BY GROUPING SETS ((k.a, k.b, k.c, s.ordinality, l.plus, l.ep, x), ()) WINDOW w AS (ORDER BY k.c DESC);
   CREATE VIEW xml_view AS SELECT x.* FROM XMLTABLE(XMLNAMESPACES('urn:x' AS "n"), '/n:a/n:b' PASSING ('<a xmlns="urn:x"><b i="1">t</b></a>'::xml) COLUMNS i int PATH '@i' NOT NULL, t text PATH '.' DEFAULT 'none', o FOR ORDINALITY) x; CREATE VIEW percentile AS SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY b) AS p, median_of(0.5) WITHIN GROUP (ORDER BY b) AS m FROM keyed;
   CREATE VIEW modifies AS WITH RECURSIVE t (n) AS MATERIALIZED (VALUES (1) UNION SELECT n + 1 FROM t WHERE n < 3) SELECT n, n IS DISTINCT FROM 2 AS d, n = ANY ('{1,2}'::int[]) AS among, NOT (n BETWEEN SYMMETRIC 3 AND 1) AS nb, n::bit(3) AS bits, (ROW(1, 2) < ROW(n, 3)) AS rc, now() AT TIME ZONE 'UTC' AS at, U&'d\\0061t' AS u, E'back\\\\slash' AS bs FROM t;
   CREATE TEMP TABLE passing AS SELECT 1; CREATE VIEW checked AS SELECT id, b FROM keyed WHERE b > 0 WITH LOCAL CHECK OPTION; CREATE VIEW on_checked AS SELECT * FROM checked WHERE b < 1000 WITH CASCADED CHECK OPTION; CREATE VIEW no_columns AS SELECT; CREATE VIEW "spaced view" ("a b", "C") AS SELECT id, b FROM keyed`,
  `CREATE TABLE ruled (id int, t text); CREATE TABLE ruled_log (id int, t text, at timestamptz DEFAULT '2020-01-01'); INSERT INTO ruled VALUES (1, 'r'); CREATE RULE logs AS ON UPDATE TO ruled WHERE old.t <> new.t DO ALSO (INSERT INTO ruled_log (id, t) VALUES (new.id, old.t); DELETE FROM ruled_log WHERE id < 0);
   CREATE RULE keeps AS ON DELETE TO ruled DO INSTEAD UPDATE ruled SET t = 'deleted' WHERE id = old.id; CREATE RULE upserts AS ON INSERT TO ruled WHERE new.id < 0 DO INSTEAD INSERT INTO ruled_log VALUES (new.id, new.t); ALTER TABLE ruled DISABLE RULE upserts; CREATE RULE notes AS ON INSERT TO ruled DO ALSO NOTIFY ruled; ALTER TABLE ruled ENABLE ALWAYS RULE logs; ALTER TABLE ruled ENABLE REPLICA RULE keeps; COMMENT ON RULE logs ON ruled IS 'rl'`,
]

const tables: readonly string[] = [
  `CREATE TABLE "Order Details" ("Order ID" int, "Product ID" int, "Unit Price" money DEFAULT 0, "Photo" bytea, "Region" bpchar, "Code" character(9) DEFAULT 'x', PRIMARY KEY ("Order ID", "Product ID")); CREATE INDEX "Order Details by Code" ON "Order Details" ("Code" bpchar_pattern_ops, "Region"); INSERT INTO "Order Details" SELECT g / 10, g % 10, g, decode(repeat('00ff5c', g), 'hex'), 'R  ', 'c' || g FROM generate_series(1, 300) g;
   CREATE TABLE extremes (id int PRIMARY KEY, big numeric, neg numeric(1000, 3), f4 float4, f8 float8, b bytea, deep int[], low int[], long text, c "char", ts timestamp, tz timestamptz, i interval, t6 time, v tsvector, j jsonb, js json, x xml, u uuid, ip inet, bi bit varying, nm name, dd date, ttz timetz, p path, o oid, wide text[]);
   INSERT INTO extremes SELECT g, (10::numeric ^ 1000 + g), -0.001 * g, '-0', '4.9e-324', decode(repeat('00', g * 50), 'hex'), ARRAY[[[g, 2], [3, NULL]]], '[-2:0]={1,2,3}', repeat(chr(128512) || chr(1) || E'\\\\' || E'\\r\\n\\t', g * 40), E'\\\\', '294276-12-31 23:59:59.999999', '4713-01-01 00:00:00+00 BC', '-178000000 years -1 mons +1 day -00:00:00.000001', '24:00:00', 'a:1A,2B,16383C ''it''''s'':4', '{"\\u00e9": [1e400, -0.0, "\\\\", {"": null}]}', '{"a":1, "a" : 2 }', '<!-- c --><a b="&lt;"><![CDATA[x]]></a>', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '2001:db8::1/64', B'', 'n', '5874897-12-31', '23:59:59.999999-15:59:59', '[(1,2),(3,4)]', 4294967295, ARRAY['NULL', NULL, '', ' ', '"', '{}', ','] FROM generate_series(1, 12) g;
   CREATE TABLE huge_array (id int PRIMARY KEY, a int[], t text[]); INSERT INTO huge_array SELECT g, (SELECT array_agg(n) FROM generate_series(1, 300000) n), array_fill('x'::text, ARRAY[40, 50], ARRAY[-3, 7]) FROM generate_series(1, 2) g`,
  `CREATE TABLE names_things (id int PRIMARY KEY, c regclass, p regprocedure, t regtype, n regnamespace, r regrole, cfg regconfig, d regdictionary, o regoperator); INSERT INTO names_things VALUES (1, 'keyed', 'plus_later(int, int, int, int[])', 'widget', 'public', 'rare_user', 'own_search', 'own_words', '=(widget, int4)'), (2, NULL, 'pg_catalog.int4pl(int, int)', 'int[]', 'pg_catalog', NULL, 'simple', NULL, NULL);
   CREATE TABLE level_top (id int NOT NULL, kind text NOT NULL, at date, n int GENERATED ALWAYS AS IDENTITY) PARTITION BY LIST (kind); CREATE TABLE level_b PARTITION OF level_top FOR VALUES IN ('b', 'c') PARTITION BY RANGE (at, id); CREATE TABLE level_b_1 PARTITION OF level_b FOR VALUES FROM (MINVALUE, MINVALUE) TO ('2020-01-01', 5) PARTITION BY HASH (id);
   CREATE TABLE level_b_1_h0 PARTITION OF level_b_1 FOR VALUES WITH (MODULUS 3, REMAINDER 0); CREATE TABLE level_b_1_h1 PARTITION OF level_b_1 FOR VALUES WITH (MODULUS 3, REMAINDER 1); CREATE UNLOGGED TABLE level_b_1_h2 PARTITION OF level_b_1 FOR VALUES WITH (MODULUS 3, REMAINDER 2); CREATE TABLE level_b_2 PARTITION OF level_b FOR VALUES FROM ('2020-01-01', 5) TO (MAXVALUE, MAXVALUE); CREATE TABLE level_d PARTITION OF level_top DEFAULT;
   CREATE TABLE level_a (at date, kind text NOT NULL DEFAULT 'a', extra int, id int NOT NULL CHECK (id > 0)); ALTER TABLE level_a DROP COLUMN extra; CREATE TABLE level_e PARTITION OF level_top FOR VALUES IN ('e') PARTITION BY LIST (id); CREATE INDEX ON level_top (at, id); CREATE UNIQUE INDEX level_unique ON level_top (kind, at, id); CREATE INDEX ON ONLY level_b (kind); CREATE STATISTICS of_levels (mcv) ON id, at FROM level_top;
   INSERT INTO level_top (id, kind, at) SELECT g, (ARRAY['b', 'c', 'x'])[1 + g % 3], date '2019-06-01' + g FROM generate_series(1, 400) g; CREATE TABLE of_level (kind text, at date, id int, FOREIGN KEY (kind, at, id) REFERENCES level_top (kind, at, id) ON DELETE CASCADE) PARTITION BY RANGE (id); CREATE TABLE of_level_1 PARTITION OF of_level FOR VALUES FROM (0) TO (1000); INSERT INTO of_level SELECT kind, at, id FROM level_top WHERE id % 4 = 0;
   CREATE FUNCTION notes_level() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; CREATE TRIGGER notes AFTER UPDATE ON level_top REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION notes_level('a', E'b\\\\c', 'it''s'); CREATE TRIGGER each_one AFTER DELETE ON level_top FOR EACH ROW WHEN (old.id > 5) EXECUTE FUNCTION notes_level(); ALTER TABLE level_b_2 DISABLE TRIGGER each_one; ALTER TABLE level_d ENABLE ALWAYS TRIGGER each_one`,
  `CREATE TABLE grand (id int NOT NULL, a int DEFAULT 1, CONSTRAINT positive CHECK (a > 0), CONSTRAINT alone CHECK (id > 0) NO INHERIT); CREATE TABLE mother (b text, a int DEFAULT 5) INHERITS (grand); CREATE TABLE father (c text, a int DEFAULT 6, CONSTRAINT positive CHECK (a > 0)) INHERITS (grand); CREATE TABLE child (d int DEFAULT 9, a int DEFAULT 7) INHERITS (mother, father); ALTER TABLE ONLY grand ADD CONSTRAINT unchecked CHECK (a < 99) NO INHERIT NOT VALID;
   ALTER TABLE child ALTER id SET NOT NULL, ALTER b SET DEFAULT 'own'; ALTER TABLE child NO INHERIT father; ALTER TABLE child INHERIT father; INSERT INTO child (id) SELECT generate_series(1, 20); INSERT INTO grand VALUES (100, 2); INSERT INTO mother VALUES (101, 3, 'm'); CREATE INDEX ON child (a) WITH (fillfactor = 55, deduplicate_items = off); CREATE VIEW only_grand AS SELECT * FROM ONLY grand;
   CREATE TABLE of_type OF pair_of (a WITH OPTIONS PRIMARY KEY, b NOT NULL DEFAULT 'typed'); INSERT INTO of_type VALUES (1, 'x'); CREATE TABLE of_type_parts OF pair_of PARTITION BY RANGE (a); CREATE TABLE of_type_part PARTITION OF of_type_parts FOR VALUES FROM (0) TO (100); INSERT INTO of_type_parts VALUES (5, 'p');
   CREATE UNLOGGED TABLE unlogged_one (id int GENERATED BY DEFAULT AS IDENTITY (START 5 INCREMENT 5 CACHE 3) PRIMARY KEY, t text); INSERT INTO unlogged_one (t) SELECT 'u' FROM generate_series(1, 20); CREATE TABLE generated_too (a int, b int GENERATED ALWAYS AS (a * 2) STORED, c text GENERATED ALWAYS AS ('c' || a::text) STORED, UNIQUE (b)); CREATE INDEX ON generated_too (a, c); INSERT INTO generated_too (a) SELECT generate_series(1, 40);
   CREATE TABLE excluded (c circle, p polygon, r int4range, EXCLUDE USING gist (c WITH &&) WHERE (circle_center(c) <> '(0,0)'), EXCLUDE USING gist (r WITH -|-, r WITH &&) INITIALLY DEFERRED); INSERT INTO excluded SELECT circle(point(g * 10, g), 1), polygon(box(point(g, g), point(0, 0))), int4range(g * 10, g * 10 + 2) FROM generate_series(1, 20) g;
   CREATE TABLE half_valid (id int PRIMARY KEY, up int, t text); ALTER TABLE half_valid ADD CONSTRAINT up FOREIGN KEY (up) REFERENCES half_valid MATCH FULL ON DELETE RESTRICT NOT VALID, ADD CONSTRAINT "late, one" UNIQUE (t) DEFERRABLE INITIALLY DEFERRED; INSERT INTO half_valid SELECT g, NULL, 'h' || g FROM generate_series(1, 30) g; ALTER TABLE half_valid CLUSTER ON half_valid_pkey; ALTER TABLE half_valid SET WITHOUT CLUSTER; ALTER TABLE half_valid REPLICA IDENTITY FULL; ALTER TABLE half_valid SET (autovacuum_vacuum_scale_factor = 0.3, toast.autovacuum_enabled = off, parallel_workers = 2);
   CREATE SEQUENCE down_seq AS smallint INCREMENT -2 MAXVALUE -1 MINVALUE -99 START -3 CACHE 4 CYCLE; SELECT nextval('down_seq'), nextval('down_seq'); CREATE SEQUENCE big_seq START 9223372036854775806; SELECT nextval('big_seq'); ALTER SEQUENCE down_seq OWNED BY half_valid.id; CREATE TABLE serial_moved (id serial, "Big Id" bigserial); ALTER TABLE serial_moved ALTER id DROP DEFAULT; ALTER SEQUENCE serial_moved_id_seq RENAME TO "moved seq"; ALTER TABLE serial_moved ALTER id SET DEFAULT nextval('"moved seq"') + 1`,
]

const rights: readonly string[] = [
  `CREATE SCHEMA rare AUTHORIZATION rare_group CREATE TABLE inside (id int PRIMARY KEY) CREATE VIEW inside_view AS SELECT id FROM inside GRANT SELECT ON inside TO PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO rare_user, rare_group; GRANT ALL ON ALL TABLES IN SCHEMA rare TO rare_user WITH GRANT OPTION; ALTER TABLE rare.inside ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
   CREATE POLICY all_of ON rare.inside USING (true) WITH CHECK (id > 0); CREATE POLICY some_of ON rare.inside AS RESTRICTIVE FOR DELETE TO rare_user, PUBLIC USING (EXISTS (SELECT 1 FROM public.keyed k WHERE k.id = inside.id)); CREATE POLICY of_me ON rare.inside FOR INSERT TO CURRENT_USER WITH CHECK (pg_has_role('rare_group', 'MEMBER'));
   ALTER DEFAULT PRIVILEGES FOR ROLE rare_group REVOKE ALL ON FUNCTIONS FROM PUBLIC; ALTER DEFAULT PRIVILEGES FOR ROLE rare_group IN SCHEMA rare GRANT INSERT ON TABLES TO rare_user WITH GRANT OPTION; ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO rare_group; ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO PUBLIC; REVOKE ALL ON keyed FROM PUBLIC; GRANT SELECT (id, c), INSERT (id), UPDATE ON keyed TO rare_user; REVOKE UPDATE ON keyed FROM rare_user;
   REVOKE USAGE ON TYPE widget FROM PUBLIC; GRANT USAGE ON TYPE sizes TO rare_user WITH GRANT OPTION; REVOKE ALL ON FUNCTION plus_later FROM PUBLIC; GRANT EXECUTE ON PROCEDURE step TO rare_user; GRANT EXECUTE ON FUNCTION table_of TO rare_group; ALTER AGGREGATE moving(numeric) OWNER TO rare_group; ALTER OPERATOR = (widget, int4) OWNER TO rare_group; ALTER OPERATOR FAMILY widget_family USING btree OWNER TO rare_group; ALTER TEXT SEARCH CONFIGURATION own_search OWNER TO rare_group; ALTER STATISTICS of_levels OWNER TO rare_group; ALTER CONVERSION own_conversion OWNER TO rare_group;
   GRANT SELECT ON pg_catalog.pg_authid TO rare_user; REVOKE EXECUTE ON FUNCTION pg_catalog.pg_sleep(float8) FROM PUBLIC; COMMENT ON OPERATOR FAMILY widget_family USING btree IS 'of'; COMMENT ON AGGREGATE moving (numeric) IS 'ag'; COMMENT ON CAST (widget AS int4) IS 'ca'; COMMENT ON TYPE nest IS 'ty'; COMMENT ON COLUMN nest.at IS 'at'; COMMENT ON DOMAIN level_2 IS 'do'; COMMENT ON PROCEDURE step IS 'pr'; COMMENT ON OPERATOR = (widget, int4) IS 'op'`,
  `CREATE FUNCTION on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM 1; END $$; CREATE EVENT TRIGGER on_drop ON sql_drop WHEN TAG IN ('DROP TABLE', 'DROP FUNCTION') EXECUTE FUNCTION on_ddl(); CREATE EVENT TRIGGER on_rewrite ON table_rewrite EXECUTE FUNCTION on_ddl(); ALTER EVENT TRIGGER on_rewrite DISABLE; CREATE EVENT TRIGGER always_on ON ddl_command_end EXECUTE FUNCTION on_ddl(); ALTER EVENT TRIGGER always_on ENABLE ALWAYS; ALTER EVENT TRIGGER on_drop OWNER TO postgres; COMMENT ON EVENT TRIGGER on_drop IS 'ev';
   SELECT lo_create(880001), lo_from_bytea(880002, decode(repeat('00ff', 3000), 'hex')); COMMENT ON LARGE OBJECT 880002 IS 'lo'; GRANT SELECT ON LARGE OBJECT 880002 TO rare_user`,
]

/** By the first major version that knows them. */
const newer: Readonly<Record<number, readonly string[]>> = {
  14: [
    `CREATE TYPE named_multirange AS RANGE (SUBTYPE = float4, MULTIRANGE_TYPE_NAME = many_floats); CREATE TABLE multi (id int PRIMARY KEY, f many_floats, d datemultirange[], w text); INSERT INTO multi VALUES (1, '{[1,2),[3,4)}', ARRAY['{}'::datemultirange, NULL], 'x');
     CREATE FUNCTION atomic_one(a int) RETURNS SETOF keyed LANGUAGE sql BEGIN ATOMIC SELECT * FROM keyed WHERE id = $1; SELECT k.* FROM keyed k WHERE k.id > $1; END; CREATE PROCEDURE atomic_step() LANGUAGE sql BEGIN ATOMIC INSERT INTO ruled_log (id) VALUES (1); DELETE FROM ruled_log WHERE id = 1; END; CREATE FUNCTION returns_it(int) RETURNS int RETURN $1 + 1; ALTER TABLE multi ADD n int GENERATED ALWAYS AS (returns_it(id)) STORED;
     CREATE VIEW searching AS WITH RECURSIVE t (id, up) AS (SELECT id, up FROM half_valid WHERE up IS NULL UNION ALL SELECT h.id, h.up FROM half_valid h JOIN t ON h.up = t.id) SEARCH DEPTH FIRST BY id SET ordered CYCLE id SET is_cycle USING way SELECT id, up, is_cycle FROM t; CREATE VIEW joined AS SELECT * FROM keyed JOIN half_valid USING (id) AS both_of; CREATE STATISTICS only_expression ON (b % 7) FROM keyed; CREATE PROCEDURE with_out(OUT a int, b int) LANGUAGE plpgsql AS 'BEGIN a := b; END'`,
  ],
  15: [
    `CREATE UNLOGGED TABLE unlogged_serial (id serial); INSERT INTO unlogged_serial DEFAULT VALUES; CREATE VIEW as_invoker WITH (security_invoker = on, check_option = local) AS SELECT id FROM keyed; ALTER TABLE half_valid ADD CONSTRAINT nulls_alike UNIQUE NULLS NOT DISTINCT (up, id);
     CREATE TABLE of_half (a int, b int DEFAULT 3, FOREIGN KEY (a) REFERENCES half_valid ON DELETE SET DEFAULT (a)); CREATE TABLE scaled (n numeric(3, 6), m numeric(2, -3)); INSERT INTO scaled VALUES (0.000123, 45678)`,
  ],
}

/** Of the server, so perhaps there already. */
export const rareRoles = `DO $$ BEGIN
  CREATE ROLE rare_group NOLOGIN; CREATE ROLE rare_user LOGIN; GRANT rare_group TO rare_user;
EXCEPTION WHEN duplicate_object THEN NULL; END $$`

/** As the published structures of the regression tests have them, in `public`. */
export function rareStructures(database: string, major: number): readonly string[] {
  return [
    ...ownTypes,
    ...ownRoutines,
    ...foreignData,
    ...views,
    ...tables,
    ...Object.entries(newer).flatMap(([first, statements]) =>
      major >= Number(first) ? statements : [],
    ),
    ...rights,
    `ALTER DATABASE ${quoteName(database)} SET datestyle TO 'SQL, DMY'; ALTER DATABASE ${quoteName(database)} SET xmloption TO document; ALTER ROLE rare_user IN DATABASE ${quoteName(database)} SET search_path TO rare, "odd, one", public`,
  ]
}
