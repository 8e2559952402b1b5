/**
 * The objects of a database that few of them have: what is in a schema beside relations, types and functions, and what is
 * in none.
 */

import {
  comment,
  enabled,
  type Facts,
  hashOfOptions,
  list,
  madeBySystem,
  madeByUser,
  namespace,
  type Objects,
  ofUser,
  optionNames,
  ownerOf,
  privileges,
} from './structure-sql.ts'

const inSchema = (kind: string, letters: string, facts: Facts, own: readonly string[] = []) => ({
  of: (catalog: string, prefix: string, condition = 'true'): Objects => ({
    kind: `'${kind}'`,
    path: ['n.nspname', `${letters}.${prefix}name`, ...own],
    facts: {
      ...facts,
      owner: ownerOf(`${letters}.${prefix}owner`),
      comment: comment(catalog, `${letters}.oid`),
    },
    from: `FROM pg_catalog.${catalog} ${letters} ${namespace(`${letters}.${prefix}namespace`)}
  WHERE ${condition} AND ${ofUser(catalog, `${letters}.oid`)}`,
  }),
})

const localeOf = `coalesce(pg_catalog.to_jsonb(c) ->> 'colllocale', pg_catalog.to_jsonb(c) ->> 'colliculocale')`

export const inSchemas: readonly Objects[] = [
  inSchema('collation', 'c', {
    definition: `pg_catalog.concat_ws(' ', c.collprovider, c.collcollate, c.collctype, ${localeOf},
      CASE WHEN c.collisdeterministic THEN 'deterministic' END)`,
  }).of('pg_collation', 'coll'),
  inSchema('conversion', 'c', {
    definition: `pg_catalog.concat_ws(' ', pg_catalog.pg_encoding_to_char(c.conforencoding), pg_catalog.pg_encoding_to_char(c.contoencoding),
      c.conproc, CASE WHEN c.condefault THEN 'default' END)`,
  }).of('pg_conversion', 'con'),
  inSchema(
    'operator',
    'o',
    {
      definition: `pg_catalog.concat_ws(' ', o.oprcode, o.oprcom::pg_catalog.regoperator, o.oprnegate::pg_catalog.regoperator, o.oprrest,
      o.oprjoin, o.oprcanhash, o.oprcanmerge)`,
    },
    [
      // An operator has one argument or two.
      `'(' || coalesce(pg_catalog.format_type(nullif(o.oprleft, 0), NULL), 'NONE') || ', '
        || coalesce(pg_catalog.format_type(nullif(o.oprright, 0), NULL), 'NONE') || ')'`,
    ],
    // One without a function was only named, by another operator; no dump carries it.
  ).of('pg_operator', 'opr', 'o.oprcode <> 0'),
  inSchema(
    'operator class',
    'o',
    {
      definition: `(SELECT pg_catalog.concat_ws(' ', f.opfname, o.opcintype::pg_catalog.regtype, nullif(o.opckeytype, 0)::pg_catalog.regtype,
      CASE WHEN o.opcdefault THEN 'default' END) FROM pg_catalog.pg_opfamily f WHERE f.oid = o.opcfamily)`,
    },
    ['(SELECT m.amname FROM pg_catalog.pg_am m WHERE m.oid = o.opcmethod)'],
  ).of('pg_opclass', 'opc'),
  inSchema(
    'operator family',
    'o',
    {
      members: `(SELECT pg_catalog.string_agg(what, ', ' ORDER BY what COLLATE "C") FROM (
        SELECT pg_catalog.concat_ws(' ', p.amopstrategy, p.amopopr::pg_catalog.regoperator) AS what FROM pg_catalog.pg_amop p
        WHERE p.amopfamily = o.oid
        UNION ALL SELECT pg_catalog.concat_ws(' ', p.amprocnum, p.amproc) FROM pg_catalog.pg_amproc p WHERE p.amprocfamily = o.oid) all_of_it)`,
    },
    ['(SELECT m.amname FROM pg_catalog.pg_am m WHERE m.oid = o.opfmethod)'],
  ).of('pg_opfamily', 'opf'),
  inSchema('statistics', 's', {
    definition: 'pg_catalog.pg_get_statisticsobjdef(s.oid)',
    target: `nullif(pg_catalog.to_jsonb(s) ->> 'stxstattarget', '-1')`,
  }).of('pg_statistic_ext', 'stx'),
  inSchema('text search configuration', 'c', {
    definition: `(SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', m.maptokentype, m.mapseqno, m.mapdict::pg_catalog.regdictionary), ', '
        ORDER BY m.maptokentype, m.mapseqno) FROM pg_catalog.pg_ts_config_map m WHERE m.mapcfg = c.oid)`,
    parser: `(SELECT p.prsname FROM pg_catalog.pg_ts_parser p WHERE p.oid = c.cfgparser)`,
  }).of('pg_ts_config', 'cfg'),
  inSchema('text search dictionary', 'd', {
    options: 'd.dictinitoption',
    template: `(SELECT t.tmplname FROM pg_catalog.pg_ts_template t WHERE t.oid = d.dicttemplate)`,
  }).of('pg_ts_dict', 'dict'),
  {
    kind: `'text search parser'`,
    path: ['n.nspname', 'p.prsname'],
    facts: {
      functions: `pg_catalog.concat_ws(' ', p.prsstart, p.prstoken, p.prsend, p.prsheadline, p.prslextype)`,
      comment: comment('pg_ts_parser', 'p.oid'),
    },
    from: `FROM pg_catalog.pg_ts_parser p ${namespace('p.prsnamespace')} WHERE ${ofUser('pg_ts_parser', 'p.oid')}`,
  },
  {
    kind: `'text search template'`,
    path: ['n.nspname', 't.tmplname'],
    facts: {
      functions: `pg_catalog.concat_ws(' ', t.tmplinit, t.tmpllexize)`,
      comment: comment('pg_ts_template', 't.oid'),
    },
    from: `FROM pg_catalog.pg_ts_template t ${namespace('t.tmplnamespace')} WHERE ${ofUser('pg_ts_template', 't.oid')}`,
  },
]

export const ofDatabase: readonly Objects[] = [
  {
    // Not its version: servers bring their own.
    kind: `'extension'`,
    path: ['e.extname'],
    facts: { schema: 'n.nspname' },
    from: `FROM pg_catalog.pg_extension e ${namespace('e.extnamespace')}`,
  },
  {
    kind: `'event trigger'`,
    path: ['t.evtname'],
    facts: {
      event: 't.evtevent',
      function: 't.evtfoid::pg_catalog.regprocedure',
      tags: list('t.evttags'),
      fires: enabled('t.evtenabled'),
      owner: ownerOf('t.evtowner'),
      comment: comment('pg_event_trigger', 't.oid'),
    },
    from: `FROM pg_catalog.pg_event_trigger t WHERE ${madeByUser('pg_event_trigger', 't.oid')}`,
  },
  {
    kind: `'default privileges'`,
    path: [
      ownerOf('a.defaclrole'),
      `coalesce((SELECT n.nspname FROM pg_catalog.pg_namespace n WHERE n.oid = a.defaclnamespace), '')`,
      `CASE a.defaclobjtype WHEN 'r' THEN 'tables' WHEN 'S' THEN 'sequences' WHEN 'f' THEN 'functions' WHEN 'T' THEN 'types'
        WHEN 'n' THEN 'schemas' ELSE 'large objects' END`,
    ],
    facts: { privileges: privileges('a.defaclacl') },
    from: 'FROM pg_catalog.pg_default_acl a',
  },
  {
    kind: `'cast'`,
    path: [
      `'(' || pg_catalog.format_type(k.castsource, NULL) || ' AS ' || pg_catalog.format_type(k.casttarget, NULL) || ')'`,
    ],
    facts: {
      definition: `pg_catalog.concat_ws(' ', nullif(k.castfunc, 0)::pg_catalog.regprocedure, k.castcontext, k.castmethod)`,
      comment: comment('pg_cast', 'k.oid'),
    },
    from: `FROM pg_catalog.pg_cast k WHERE ${madeByUser('pg_cast', 'k.oid')} AND NOT ${madeBySystem('pg_cast', 'k.oid')}`,
  },
  {
    kind: `'language'`,
    path: ['l.lanname'],
    facts: {
      functions: `pg_catalog.concat_ws(' ', nullif(l.lanplcallfoid, 0)::pg_catalog.regproc, nullif(l.laninline, 0)::pg_catalog.regproc,
        nullif(l.lanvalidator, 0)::pg_catalog.regproc)`,
      trusted: `CASE WHEN l.lanpltrusted THEN 'yes' END`,
      owner: ownerOf('l.lanowner'),
      privileges: privileges('l.lanacl', 'l', 'l.lanowner'),
      comment: comment('pg_language', 'l.oid'),
    },
    from: `FROM pg_catalog.pg_language l WHERE ${madeByUser('pg_language', 'l.oid')}`,
  },
  {
    kind: `'transform'`,
    path: [
      '(SELECT l.lanname FROM pg_catalog.pg_language l WHERE l.oid = t.trflang)',
      `'(' || pg_catalog.format_type(t.trftype, NULL) || ')'`,
    ],
    facts: {
      functions: `pg_catalog.concat_ws(' ', nullif(t.trffromsql, 0)::pg_catalog.regproc, nullif(t.trftosql, 0)::pg_catalog.regproc)`,
      comment: comment('pg_transform', 't.oid'),
    },
    from: `FROM pg_catalog.pg_transform t WHERE ${madeByUser('pg_transform', 't.oid')}`,
  },
  {
    kind: `'access method'`,
    path: ['m.amname'],
    facts: { handler: 'm.amhandler', type: 'm.amtype', comment: comment('pg_am', 'm.oid') },
    from: `FROM pg_catalog.pg_am m WHERE ${madeByUser('pg_am', 'm.oid')}`,
  },
  {
    kind: `'foreign data wrapper'`,
    path: ['w.fdwname'],
    facts: {
      functions: `pg_catalog.concat_ws(' ', nullif(w.fdwhandler, 0)::pg_catalog.regproc, nullif(w.fdwvalidator, 0)::pg_catalog.regproc)`,
      options: optionNames('w.fdwoptions'),
      'values of the options': hashOfOptions('w.fdwoptions'),
      owner: ownerOf('w.fdwowner'),
      privileges: privileges('w.fdwacl', 'F', 'w.fdwowner'),
      comment: comment('pg_foreign_data_wrapper', 'w.oid'),
    },
    from: `FROM pg_catalog.pg_foreign_data_wrapper w WHERE ${madeByUser('pg_foreign_data_wrapper', 'w.oid')}`,
  },
  {
    kind: `'foreign server'`,
    path: ['s.srvname'],
    facts: {
      wrapper: 'SELECT w.fdwname FROM pg_catalog.pg_foreign_data_wrapper w WHERE w.oid = s.srvfdw',
      type: 's.srvtype',
      version: 's.srvversion',
      options: optionNames('s.srvoptions'),
      'values of the options': hashOfOptions('s.srvoptions'),
      owner: ownerOf('s.srvowner'),
      privileges: privileges('s.srvacl', 'S', 's.srvowner'),
      comment: comment('pg_foreign_server', 's.oid'),
    },
    from: `FROM pg_catalog.pg_foreign_server s WHERE ${madeByUser('pg_foreign_server', 's.oid')}`,
  },
  {
    // What is in them are passwords, mostly: their values are not read.
    kind: `'user mapping'`,
    path: ['m.srvname', 'm.usename'],
    facts: { options: optionNames('m.umoptions') },
    from: 'FROM pg_catalog.pg_user_mappings m',
  },
  {
    kind: `'security label'`,
    path: ['l.objtype', 'l.objname', 'l.provider'],
    facts: { label: 'l.label' },
    from: `FROM pg_catalog.pg_seclabels l WHERE l.objtype NOT IN ('database', 'role', 'tablespace')`,
  },
]
