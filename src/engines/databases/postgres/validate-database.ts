/** The checks of one database of a migration, each a look at the catalogs. */

import { DatabaseEngineError, type Finding } from '../engine.ts'
import { readTables, type SourceTable } from './catalog.ts'
import { connect, type ReachableServer, type Session } from './connect.ts'
import { createFindings, type Findings, listed } from './findings.ts'
import { functionsOfOthers, ownersWithoutRights } from './functions-of-others.ts'
import { invalidIndexes, systemObjects } from './left-behind.ts'
import { boundToMissingRoles, lacksRoles } from './roles.ts'
import { foreignCompression, missingRoles } from './schema.ts'
import { blindWithoutPath } from './search-path.ts'
import { linesInWords } from './structure-difference.ts'
import { tryStructure } from './try-structure.ts'
import type { Validation } from './validate.ts'

interface DatabaseValidation {
  readonly validation: Validation
  readonly name: string
  readonly from: ReachableServer
  /** In the maintenance databases. */
  readonly source: Session
  readonly target: Session
  readonly applicationName: string
  /** Nothing is wrong with the servers that would fail here again. */
  readonly restoresStructure: boolean
}

interface Checked {
  readonly validation: DatabaseValidation
  /** In the database itself. */
  readonly inside: Session
  readonly tables: readonly SourceTable[]
  readonly findings: Findings
}

export async function validateDatabase(
  validation: DatabaseValidation,
): Promise<readonly Finding[]> {
  const findings = createFindings()
  findings.check('DatabaseExists')
  try {
    await using inside = await connect(validation.from, {
      database: validation.name,
      applicationName: validation.applicationName,
    })
    const checked = { validation, inside, tables: await readTables(inside), findings }
    await checkTarget(checked)
    await checkExtensions(checked)
    await checkLocale(checked)
    await checkReading(checked)
    await checkRoles(checked)
    await checkTypes(checked)
    await checkTransactions(checked)
    await checkReplication(checked)
    await checkMaterializedViews(checked)
    await checkOwnership(checked)
    await checkObjects(checked)
    await checkFunctionsOfOthers(checked)
    await checkSearchPath(checked)
    await checkStructure(checked)
  } catch (error) {
    if (!(error instanceof DatabaseEngineError)) throw error
    const number = error.number === undefined ? '' : `${error.number}: `
    findings.add('DatabaseExists', 'Failed', `${number}${error.message}`)
  }
  return findings.all()
}

async function checkTarget({ validation, findings }: Checked): Promise<void> {
  findings.check('TargetDatabase')
  const there = await validation.target.value(
    'SELECT 1 FROM pg_catalog.pg_database WHERE datname = $1',
    [validation.name],
  )
  if (there === undefined) return
  findings.add(
    'TargetDatabase',
    'Warning',
    validation.validation.spec.overwrite
      ? `603101: the target has a database '${validation.name}', which is replaced, as was allowed: it is kept under another name until the new one is whole, and dropped then.`
      : `603101: the target has a database '${validation.name}': allow it to be overwritten, or drop or rename it.`,
  )
}

async function checkExtensions({ validation, inside, findings }: Checked): Promise<void> {
  findings.check('Extensions')
  const used = await inside.rows<{ name: string }>(
    "SELECT extname AS name FROM pg_catalog.pg_extension WHERE extname <> 'plpgsql'",
  )
  const there = new Set(
    (
      await validation.target.rows<{ name: string }>(
        'SELECT name FROM pg_catalog.pg_available_extensions',
      )
    ).map(({ name }) => name),
  )
  const lacking = used.map(({ name }) => name).filter((name) => !there.has(name))
  if (lacking.length > 0) {
    findings.add(
      'Extensions',
      'Failed',
      `603405: the target's server lacks the extensions ${listed(lacking)}: install them there.`,
    )
  }
}

async function checkLocale({ validation, inside, findings }: Checked): Promise<void> {
  findings.check('Collation')
  const [shape] = await inside.rows<{ collate: string; ctype: string; provider: string | null }>(
    `SELECT datcollate AS collate, datctype AS ctype, pg_catalog.to_jsonb(d) ->> 'datlocprovider' AS provider
     FROM pg_catalog.pg_database d WHERE datname = pg_catalog.current_database()`,
  )
  if (shape === undefined || (shape.provider !== null && shape.provider !== 'c')) return
  for (const name of new Set([shape.collate, shape.ctype])) {
    if (['C', 'POSIX'].includes(name)) continue
    const there = await validation.target.value(
      `SELECT 1 FROM pg_catalog.pg_collation WHERE collprovider IN ('c', 'd')
         AND pg_catalog.replace(pg_catalog.lower(collcollate), '-', '') = pg_catalog.replace(pg_catalog.lower($1), '-', '')
       UNION SELECT 1 FROM pg_catalog.pg_database
       WHERE pg_catalog.replace(pg_catalog.lower(datcollate), '-', '') = pg_catalog.replace(pg_catalog.lower($1), '-', '')`,
      [name],
    )
    if (there === undefined) {
      findings.add(
        'Collation',
        'Warning',
        `603401: the database's locale '${name}' is not listed at the target: install it in the target's operating system.`,
      )
    }
  }
}

/** Both the schema's dump and COPY stop at the first thing that may not be read, or read in part. */
async function checkReading({ inside, tables, findings }: Checked): Promise<void> {
  findings.check('SourcePrivileges')
  const unreadable = await inside.rows<{ name: string }>(
    `SELECT c.oid::pg_catalog.regclass::text AS name FROM pg_catalog.pg_class c
     WHERE (c.oid = ANY ($1::pg_catalog.oid[]) AND NOT pg_catalog.has_table_privilege(c.oid, 'SELECT'))
       OR (c.relkind = 'S' AND c.oid >= 16384 AND NOT pg_catalog.has_sequence_privilege(c.oid, 'SELECT'))
     UNION ALL
     SELECT 'large object ' || m.oid FROM pg_catalog.pg_largeobject_metadata m
     WHERE NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)
       AND NOT pg_catalog.pg_has_role(m.lomowner, 'USAGE')
       AND NOT EXISTS (SELECT FROM pg_catalog.aclexplode(m.lomacl) a WHERE a.privilege_type = 'SELECT'
         AND (a.grantee = 0 OR pg_catalog.pg_has_role(a.grantee, 'USAGE')))`,
    [tables.map(({ oid }) => oid)],
  )
  if (unreadable.length > 0) {
    findings.add(
      'SourcePrivileges',
      'Failed',
      `603111: the source's user may not read ${listed(unreadable.map(({ name }) => name))}: grant it SELECT, or membership in pg_read_all_data.`,
    )
  }
  findings.check('RowSecurity')
  const secured = await inside.rows<{ name: string }>(
    `SELECT c.oid::pg_catalog.regclass::text AS name FROM pg_catalog.pg_class c
     WHERE c.relrowsecurity AND c.relkind = 'r' AND NOT EXISTS (
       SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
         AND (r.rolsuper OR r.rolbypassrls
           OR (pg_catalog.pg_has_role(c.relowner, 'USAGE') AND NOT c.relforcerowsecurity)))`,
  )
  if (secured.length > 0) {
    findings.add(
      'RowSecurity',
      'Failed',
      `Row security would hide rows of ${listed(secured.map(({ name }) => name))} from the source's user: ALTER ROLE … BYPASSRLS.`,
    )
  }
}

async function checkRoles({ validation, inside, findings }: Checked): Promise<void> {
  findings.check('Roles')
  const { target } = validation
  const { roles } = validation.validation.spec
  const makesRoles = await target.value(
    'SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = current_user AND (rolsuper OR rolcreaterole)',
  )
  const bound = roles && makesRoles !== undefined ? [] : await boundToMissingRoles(inside, target)
  if (bound.length > 0) findings.add('Roles', 'Failed', lacksRoles(bound))
  if (roles) return
  const lacking = await missingRoles(inside, target)
  if (lacking.length === 0) return
  findings.add(
    'Roles',
    'Warning',
    `The target lacks the roles ${listed(lacking)}, or its user may not act as them: migrate roles too, create them, or make the user a member; otherwise everything will belong to the target's user and grants are left out.`,
  )
}

async function checkTypes({ validation, inside, findings }: Checked): Promise<void> {
  findings.check('ColumnTypes')
  const columns = await inside.rows<{ name: string; type: string }>(
    `SELECT c.oid::pg_catalog.regclass::text || '.' || pg_catalog.quote_ident(a.attname) AS name,
       pg_catalog.format_type(a.atttypid, NULL) AS type
     FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
     WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname !~ '^pg_'
       AND n.nspname <> 'information_schema' AND t.typname ~ '^_?reg' AND t.oid < 10000
     ORDER BY 1`,
  )
  if (columns.length > 0) {
    findings.add(
      'ColumnTypes',
      'Warning',
      `The columns ${listed(columns.map(({ name, type }) => `${name} (${type})`))} name objects of the server; rows that name what the target lacks while it is filled will not go in.`,
    )
  }
  const compressed = await foreignCompression(inside, validation.target)
  if (compressed > 0) {
    findings.add(
      'ColumnTypes',
      'Warning',
      `${compressed} columns are compressed by lz4, which the target's server was built without: they will be as if they named no compression.`,
    )
  }
  findings.check('SystemObjects')
  const system = await inside.rows<{ name: string }>(
    `SELECT c.oid::pg_catalog.regclass::text AS name FROM pg_catalog.pg_class c
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.oid >= 16384 AND c.relkind = 'r'
       AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')`,
  )
  if (system.length > 0) {
    findings.add(
      'SystemObjects',
      'Failed',
      `603410: the tables ${listed(system.map(({ name }) => name))} stand in a schema of the system and are not migrated: move them.`,
    )
  }
  const others = (await systemObjects(inside)).filter((what) => !what.startsWith('table '))
  if (others.length > 0) {
    findings.add(
      'SystemObjects',
      'Warning',
      `These stand in a schema of the system, which comes with the server, and are left out: ${listed(others)}. Move them, or make them at the target.`,
    )
  }
  findings.check('Indexes')
  const invalid = await invalidIndexes(inside)
  if (invalid.length > 0) {
    findings.add(
      'Indexes',
      'Warning',
      `The build of these was broken off, and they are left out: ${listed(invalid)}. Build or drop them: REINDEX INDEX, DROP INDEX.`,
    )
  }
}

async function checkTransactions({ inside, findings }: Checked): Promise<void> {
  findings.check('PreparedTransactions')
  const prepared = Number(
    await inside.value(
      `SELECT pg_catalog.count(*) FROM pg_catalog.pg_prepared_xacts
       WHERE database = pg_catalog.current_database()`,
    ),
  )
  if (prepared > 0) {
    findings.add(
      'PreparedTransactions',
      'Warning',
      `${prepared} prepared transactions are open: commit or roll them back, since a replication slot waits for them.`,
    )
  }
}

/** Publishing takes the tables' owner, and the fence the database's. */
async function checkOwnership({ validation, inside, tables, findings }: Checked): Promise<void> {
  const { mode, fence } = validation.validation.spec
  if (mode === 'offline') return
  findings.check('SourceOwnership')
  const foreign = await inside.rows<{ name: string }>(
    `SELECT c.oid::pg_catalog.regclass::text AS name FROM pg_catalog.pg_class c
     WHERE c.oid = ANY ($1::pg_catalog.oid[]) AND NOT pg_catalog.pg_has_role(c.relowner, 'USAGE')
     UNION ALL
     SELECT 'the database itself' FROM pg_catalog.pg_database d
     WHERE d.datname = pg_catalog.current_database() AND (
       ($2 AND NOT pg_catalog.pg_has_role(d.datdba, 'USAGE'))
       OR NOT pg_catalog.has_database_privilege(d.oid, 'CREATE'))`,
    [tables.map(({ oid }) => oid), fence !== 'none'],
  )
  if (foreign.length === 0) return
  findings.add(
    'SourceOwnership',
    'Failed',
    `To publish changes and to keep writers out, the source's user must own ${listed(foreign.map(({ name }) => name))}: make it a member of the owners, or take a superuser.`,
  )
}

async function checkReplication({ validation, tables, findings }: Checked): Promise<void> {
  if (validation.validation.spec.mode === 'offline') return
  findings.check('ReplicaIdentity')
  const lacking = tables.filter(({ identityMissing, replicated }) => identityMissing && replicated)
  if (lacking.length > 0) {
    findings.add(
      'ReplicaIdentity',
      'Warning',
      `Tables without a replica identity: ${listed(lacking.map(({ name }) => name))}. ${
        validation.validation.spec.setUpReplication
          ? 'They get REPLICA IDENTITY FULL for the length of the migration, as was allowed.'
          : 'Allow the set-up of logical replication, or give them a primary key; a published table without one refuses UPDATE and DELETE.'
      }`,
    )
  }
  const unfindable = tables.filter(({ replicated, unlogged }) => !replicated && !unlogged)
  if (unfindable.length > 0) {
    findings.add(
      'ReplicaIdentity',
      'Warning',
      `Changes of rows of ${listed(unfindable.map(({ name }) => name))} cannot be applied, since these have no key and a column of a type without equality, or a generated column in their key, or without one in an index: they are compared at the cutover, and copied again where they differ, while writers wait. Give them a primary key of columns that are not generated.`,
    )
  }
  findings.check('UnloggedTables')
  const unlogged = tables.filter((table) => table.unlogged)
  if (unlogged.length > 0) {
    findings.add(
      'UnloggedTables',
      'Warning',
      `${listed(unlogged.map(({ name }) => name))} have no log of changes: they are copied again at the cutover.`,
    )
  }
}

/** What they select may take any time, whatever their size. */
async function checkMaterializedViews({ validation, inside, findings }: Checked): Promise<void> {
  if (validation.validation.spec.mode === 'offline') return
  findings.check('MaterializedViews')
  const views = await inside.rows<{ name: string }>(
    `SELECT c.oid::pg_catalog.regclass::text AS name FROM pg_catalog.pg_class c
     WHERE c.relkind = 'm' AND c.relispopulated AND c.oid >= 16384 ORDER BY c.relpages DESC, 1`,
  )
  if (views.length === 0) return
  findings.add(
    'MaterializedViews',
    'Warning',
    `Materialized views are filled anew at the cutover, while writers wait: ${listed(views.map(({ name }) => name))}. Where that takes long, drop them, and make them at the target afterwards.`,
  )
}

async function checkObjects({ validation, inside, findings }: Checked): Promise<void> {
  findings.check('LargeObjects')
  const objects = Number(
    await inside.value('SELECT pg_catalog.count(*) FROM pg_catalog.pg_largeobject_metadata'),
  )
  if (objects > 0 && validation.validation.spec.mode === 'online') {
    findings.add(
      'LargeObjects',
      'Warning',
      `${objects} large objects: they have no log of changes, and are compared and copied again at the cutover.`,
    )
  }
  findings.check('Sequences')
}

async function checkFunctionsOfOthers({ validation, inside, findings }: Checked): Promise<void> {
  findings.check('FunctionsOfOthers')
  const found = await functionsOfOthers(inside, validation.target)
  if (found.length === 0) return
  findings.add(
    'FunctionsOfOthers',
    'Warning',
    `The target's user is a superuser, and runs functions of other users there: ${listed(found)}. Take a target user that is none, or look at what they do.`,
  )
}

/** The structure is tried without rows, and these functions fail with the first row. */
async function checkSearchPath({ validation, inside, findings }: Checked): Promise<void> {
  findings.check('SearchPath')
  const { failing, untried } = await blindWithoutPath(inside, validation.validation.clock)
  const whenEmpty =
    'find names by the search_path of their caller, which is empty while a server restores, indexes or applies rows'
  const help =
    'Give the functions their own: ALTER FUNCTION … SET search_path TO …, or name the schemas in their bodies.'
  if (failing.length > 0) {
    findings.add(
      'SearchPath',
      'Failed',
      `Functions ${whenEmpty}, so that these cannot be made at the target: ${listed(failing)}. ${help}`,
    )
  }
  if (untried.length > 0) {
    findings.add(
      'SearchPath',
      'Warning',
      `Other users than the source's have functions, tables or types here, so nothing is run and these are not tried, which use functions without a search_path: ${listed(untried)}. They fail if they ${whenEmpty}. ${help}`,
    )
  }
}

/** A function in SQL, whose body the server opens where an index of it is made. */
const inlined = /does not exist\n.*SQL function "[^"]*" during inlining/s
const helpForInlined =
  ' The function finds names by the search_path of its caller, which is empty while a server restores. If it is of an extension, take a target with a later version of that, or drop what uses it, and make it at the target afterwards.'

/** The same dump and restore as the migration's, without rows. Where something failed before, it would fail here again. */
async function checkStructure({ validation: one, inside, findings }: Checked): Promise<void> {
  const { validation, name, target, restoresStructure } = one
  const { programs, spec, credentials, folder, clock, signal, isFollowed } = validation
  if (!restoresStructure || programs === undefined) return
  if (findings.all().some(({ state }) => state === 'Failed')) return
  findings.check('Structure')
  const owners = isFollowed ? [] : await ownersWithoutRights(inside, target)
  if (owners.length > 0) {
    findings.add(
      'Structure',
      'Warning',
      `Not tried: the target's user is a superuser, and what other users of the source define would run with its rights: ${listed(owners)}. Take a target user that is none, or look at what they define. A migration makes the structure before it moves rows, and runs it.`,
    )
    return
  }
  const means = { spec, credentials, programs, folder, clock, signal }
  try {
    const differences = await tryStructure({ ...means, name, source: inside, target })
    if (differences.length > 0) {
      findings.add(
        'Structure',
        'Failed',
        `The target makes another structure of it: ${linesInWords(differences)}. Make the source such that both are alike.`,
      )
    }
  } catch (error) {
    if (!(error instanceof DatabaseEngineError)) throw error
    const [state, said] =
      error.kind === 'refused'
        ? (['Failed', 'The target does not take the structure of the database'] as const)
        : ([
            'Warning',
            'Whether the target takes the structure of the database was not found out',
          ] as const)
    const help = inlined.test(error.message) ? helpForInlined : ''
    findings.add('Structure', state, `${said}: ${error.message}${help}`)
  }
}
