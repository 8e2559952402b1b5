/**
 * The target's database as a whole: made, marked as this migration's while it is filled, given the source's
 * settings and grants at the end. Drops nothing that lacks the mark, unless the specification allows it.
 */

import { shortWords } from '#kernel/short-words.ts'
import { DatabaseEngineError } from '../engine.ts'
import {
  isTransient,
  majorOf,
  quoteName,
  quoteText,
  type Session,
  settingClause,
} from './connect.ts'
import { type DatabaseTask, nameOf } from './database-task.ts'
import { ownershipComment } from './names.ts'
import { fewWords, wordsCharactersMax } from './record.ts'
import { keepReplaced } from './replaced-database.ts'
import { requireOtherServer } from './same-server.ts'

interface DatabaseShape {
  readonly encoding: string
  readonly collate: string
  readonly ctype: string
  readonly provider: string | null
  readonly locale: string | null
  readonly rules: string | null
  readonly limit: number
  readonly owner: string
  readonly comment: string | null
}

/** Columns that came with later versions are read through JSON, where a missing one is null. */
const shapeQuery = `
SELECT pg_catalog.pg_encoding_to_char(d.encoding) AS encoding, d.datcollate AS collate,
  d.datctype AS ctype, j ->> 'datlocprovider' AS provider,
  coalesce(j ->> 'datlocale', j ->> 'daticulocale') AS locale, j ->> 'daticurules' AS rules, d.datconnlimit AS limit,
  pg_catalog.pg_get_userbyid(d.datdba) AS owner,
  pg_catalog.shobj_description(d.oid, 'pg_database') AS comment
FROM pg_catalog.pg_database d, LATERAL pg_catalog.to_jsonb(d) j WHERE d.datname = $1`

async function shapeOf(session: Session, name: string): Promise<DatabaseShape | undefined> {
  const [shape] = await session.rows<DatabaseShape>(shapeQuery, [name])
  return shape
}

/** `made`: by this migration, and not finished. */
export async function stateOfTarget(
  server: Session,
  migration: string,
  name: string,
): Promise<'absent' | 'made' | 'other'> {
  const shape = await shapeOf(server, name)
  if (shape === undefined) return 'absent'
  return shape.comment === ownershipComment(migration) ? 'made' : 'other'
}

/**
 * Makes it under a name of the migration's own and gives it the mark before its real name, so that no crash
 * leaves an unmarked database that could be taken for the user's.
 */
export async function makeTargetDatabase(
  task: DatabaseTask,
  source: Session,
  server: Session,
): Promise<void> {
  await requireOtherServer(source, server)
  const there = await stateOfTarget(server, task.migration, task.name)
  if (there === 'other' && !task.spec.overwrite) {
    throw new DatabaseEngineError(
      'refused',
      `The target has a database '${task.name}' that this migration did not make. Allow it to be overwritten, or drop or rename it.`,
      { number: 603101 },
    )
  }
  task.record.made = true
  task.save()
  const temporary = nameOf(task)
  await server.run(`DROP DATABASE IF EXISTS ${quoteName(temporary)} WITH (FORCE)`)
  await createLike(source, server, task.name, temporary)
  task.onBoundary('created')
  await server.run(
    `COMMENT ON DATABASE ${quoteName(temporary)} IS ${quoteText(ownershipComment(task.migration))}`,
  )
  if (there === 'made') {
    await server.run(`DROP DATABASE IF EXISTS ${quoteName(task.name)} WITH (FORCE)`)
  } else if (there === 'other') {
    await keepReplaced(task, server)
  }
  await server.run(`ALTER DATABASE ${quoteName(temporary)} RENAME TO ${quoteName(task.name)}`)
}

/** Empty, with the encoding and locale of the source's database `name`. */
export async function createLike(
  source: Session,
  server: Session,
  name: string,
  made: string,
): Promise<void> {
  const shape = await shapeOf(source, name)
  if (shape === undefined) throw new Error(`the source's own database ${name} is not listed`)
  await server.run(`CREATE DATABASE ${quoteName(made)} TEMPLATE template0
    ENCODING ${quoteText(shape.encoding)} LC_COLLATE ${quoteText(shape.collate)}
    LC_CTYPE ${quoteText(shape.ctype)}${await localeClause(server, shape)}`)
}

async function localeClause(server: Session, shape: DatabaseShape): Promise<string> {
  if ((await majorOf(server)) < 15 || shape.provider === null || shape.provider === 'c') return ''
  const locale = quoteText(shape.locale ?? 'und')
  const rules = shape.rules === null ? '' : ` ICU_RULES ${quoteText(shape.rules)}`
  return shape.provider === 'i'
    ? ` LOCALE_PROVIDER icu ICU_LOCALE ${locale}${rules}`
    : ` LOCALE_PROVIDER builtin BUILTIN_LOCALE ${locale}`
}

/** Settings that are left out go into records and reports, and the source has as many as it likes. */
const leftOutMax = 100

/** What clients connect to before they know another: a server is never left without it. */
const defaultDatabase = 'postgres'

/** Drops what this migration made. Absent is fine; another's is left. `isReplaced`: another takes its place at once. */
export async function dropMadeDatabase(
  server: Session,
  migration: string,
  name: string,
  isReplaced = false,
): Promise<void> {
  if ((await stateOfTarget(server, migration, name)) !== 'made') return
  await server.run(`DROP DATABASE IF EXISTS ${quoteName(name)} WITH (FORCE)`)
  if (name === defaultDatabase && !isReplaced) {
    await server.run(`CREATE DATABASE ${quoteName(name)} TEMPLATE template0`)
  }
}

interface Setting {
  readonly role: string | null
  readonly name: string
  readonly value: string
}

const settingsQuery = `
SELECT CASE s.setrole WHEN 0 THEN NULL ELSE pg_catalog.pg_get_userbyid(s.setrole) END AS role,
  pg_catalog.split_part(c, '=', 1) AS name,
  pg_catalog.substr(c, pg_catalog.strpos(c, '=') + 1) AS value
FROM pg_catalog.pg_db_role_setting s
JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase, pg_catalog.unnest(s.setconfig) c
WHERE d.datname = $1 ORDER BY 1, 2`

const grantsQuery = `
SELECT a.privilege_type AS privilege, a.is_grantable AS grantable,
  CASE a.grantee WHEN 0 THEN NULL ELSE pg_catalog.pg_get_userbyid(a.grantee) END AS role
FROM pg_catalog.pg_database d, pg_catalog.aclexplode(d.datacl) a
WHERE d.datname = $1 AND a.grantee <> d.datdba ORDER BY 1, 3`

/**
 * Owner, settings, grants and comment of the database itself, once it is complete: a setting such as a
 * statement time-out would have been in the way before. Replaces the mark, so it comes last.
 */
export async function finishTargetDatabase(
  task: DatabaseTask,
  source: Session,
  server: Session,
): Promise<void> {
  const shape = await shapeOf(source, task.name)
  if (shape === undefined) throw new Error(`the source's own database ${task.name} is not listed`)
  const database = quoteName(task.name)
  const roles = new Set(
    (await server.rows<{ name: string }>('SELECT rolname AS name FROM pg_catalog.pg_roles')).map(
      ({ name }) => name,
    ),
  )
  const statements: string[] = []
  const leftOut: string[] = []
  let others = 0
  const settings = await source.rows<Setting>(settingsQuery, [task.name])
  for (const setting of settings.filter((one) => !isFence(one))) {
    if (setting.role !== null && !roles.has(setting.role)) continue
    const whom =
      setting.role === null
        ? `ALTER DATABASE ${database}`
        : `ALTER ROLE ${quoteName(setting.role)} IN DATABASE ${database}`
    try {
      await server.run(`${whom} ${settingClause(setting)}`)
    } catch (error) {
      // A later version may know it no longer, and without the right it cannot be set: no reason to fail now.
      if (isTransient(error)) throw error
      const words = `${setting.name} (${error instanceof Error ? error.message : String(error)})`
      if (leftOut.length < leftOutMax) leftOut.push(shortWords(words, wordsCharactersMax))
      else others++
    }
  }
  task.record.leftOut = leftOut
  const rest = `${others} more settings of the database, which the target refuses`
  if (others > 0) task.record.setAside = fewWords([...task.record.setAside, rest])
  if (task.record.owners) {
    if (roles.has(shape.owner)) {
      statements.push(`ALTER DATABASE ${database} OWNER TO ${quoteName(shape.owner)}`)
    }
    statements.push(...(await grants(task, source, roles)))
  }
  if (Number.isInteger(shape.limit) && shape.limit >= 0)
    statements.push(`ALTER DATABASE ${database} CONNECTION LIMIT ${shape.limit}`)
  statements.push(
    `COMMENT ON DATABASE ${database} IS ${shape.comment === null ? 'NULL' : quoteText(shape.comment)}`,
  )
  await server.run(statements.join('; '))
}

/**
 * A database that only reads does so to keep writers out while it is moved: this cutover, an earlier one or the
 * user has set it. A copy that could not be written to would be of no use.
 */
function isFence({ role, name }: Setting): boolean {
  return role === null && name === 'default_transaction_read_only'
}

async function grants(
  task: DatabaseTask,
  source: Session,
  roles: ReadonlySet<string>,
): Promise<readonly string[]> {
  const explicit = await source.value(
    'SELECT datacl IS NOT NULL FROM pg_catalog.pg_database WHERE datname = $1',
    [task.name],
  )
  if (explicit !== 'true') return []
  const database = quoteName(task.name)
  const rows = await source.rows<{ privilege: string; grantable: boolean; role: string | null }>(
    grantsQuery,
    [task.name],
  )
  return [
    `REVOKE ALL ON DATABASE ${database} FROM PUBLIC`,
    ...rows
      .filter(({ role }) => role === null || roles.has(role))
      // The source's word, and no name that could be quoted.
      .filter(({ privilege }) => /^[A-Z]+$/.test(privilege))
      .map(
        ({ privilege, grantable, role }) =>
          `GRANT ${privilege} ON DATABASE ${database} TO ${role === null ? 'PUBLIC' : quoteName(role)}${grantable ? ' WITH GRANT OPTION' : ''}`,
      ),
  ]
}

/** Takes the mark off a database that is kept though its migration ended early. */
export async function releaseTargetDatabase(
  server: Session,
  migration: string,
  name: string,
): Promise<void> {
  if ((await stateOfTarget(server, migration, name)) !== 'made') return
  const text = `Left as it was by migration ${migration}, which did not complete.`
  await server.run(`COMMENT ON DATABASE ${quoteName(name)} IS ${quoteText(text)}`)
}
