/**
 * Roles from one server to another: attributes, memberships, settings, grants on parameters, and passwords where they may
 * be read. Leaves roles that are there already as they are.
 */

import {
  isTransient,
  keepOutOfLog,
  majorOf,
  quoteName,
  quoteText,
  type Session,
  settingClause,
} from './connect.ts'
import { listed } from './findings.ts'

interface Role {
  readonly name: string
  readonly super: boolean
  readonly inherit: boolean
  readonly createrole: boolean
  readonly createdb: boolean
  readonly login: boolean
  readonly replication: boolean
  readonly bypassrls: boolean
  readonly limit: number
  readonly until: string | null
  readonly password: string | null
  readonly comment: string | null
}

/** What the target refused, with its words. In one transaction: a role that is there when it is tried again is complete. */
export async function copyRoles(source: Session, target: Session): Promise<readonly string[]> {
  const there = new Set(
    (await target.rows<{ name: string }>('SELECT rolname AS name FROM pg_catalog.pg_roles')).map(
      ({ name }) => name,
    ),
  )
  const roles = (await readRoles(source)).filter(({ name }) => !there.has(name))
  const all =
    (await target.value(
      'SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user',
    )) === 'true'
  await target.run('BEGIN')
  await keepOutOfLog(target)
  const refused: string[] = []
  const run = async (what: string, statement: string): Promise<boolean> => {
    try {
      await target.run(`SAVEPOINT one; ${statement}; RELEASE SAVEPOINT one`)
      return true
    } catch (error) {
      if (isTransient(error)) throw error
      await target.run('ROLLBACK TO SAVEPOINT one; RELEASE SAVEPOINT one')
      refused.push(`${what} (${error instanceof Error ? error.message : String(error)})`)
      return false
    }
  }
  const made = new Set<string>()
  for (const role of roles) {
    const text = `CREATE ROLE ${quoteName(role.name)} WITH ${attributesOf(role, all)}`
    if (!(await run(`role ${role.name}`, text))) continue
    made.add(role.name)
    if (role.comment !== null) {
      await run(
        `comment on ${role.name}`,
        `COMMENT ON ROLE ${quoteName(role.name)} IS ${quoteText(role.comment)}`,
      )
    }
  }
  const statements = [
    ...(await memberships(source, made, there)),
    ...(await settings(source, made)),
    ...((await majorOf(target)) < 15 ? [] : await parameterGrants(source, made)),
  ]
  for (const statement of statements) await run(statement.replace(/ TO '.*/s, ''), statement)
  await target.run('COMMIT')
  return refused
}

async function readRoles(source: Session): Promise<readonly Role[]> {
  const readable = await source.value(
    "SELECT pg_catalog.has_table_privilege('pg_catalog.pg_authid', 'SELECT')",
  )
  return source.rows<Role>(
    `SELECT rolname AS name, rolsuper AS super, rolinherit AS inherit, rolcreaterole AS createrole,
       rolcreatedb AS createdb, rolcanlogin AS login, rolreplication AS replication,
       rolbypassrls AS bypassrls, rolconnlimit AS limit, rolvaliduntil::text AS until,
       ${readable === 'true' ? 'rolpassword' : 'NULL::text'} AS password,
       pg_catalog.shobj_description(oid, 'pg_authid') AS comment
     FROM ${readable === 'true' ? 'pg_catalog.pg_authid' : 'pg_catalog.pg_roles'}
     WHERE rolname !~ '^pg_' ORDER BY rolname`,
  )
}

/** Attributes that only a superuser may give are left out where the target's user is none. */
function attributesOf(role: Role, all: boolean): string {
  const word = (name: string, is: boolean): string => `${is ? '' : 'NO'}${name}`
  return [
    ...(all
      ? [
          word('SUPERUSER', role.super),
          word('REPLICATION', role.replication),
          word('BYPASSRLS', role.bypassrls),
        ]
      : []),
    word('INHERIT', role.inherit),
    word('CREATEROLE', role.createrole),
    word('CREATEDB', role.createdb),
    word('LOGIN', role.login),
    ...(Number.isInteger(role.limit) ? [`CONNECTION LIMIT ${role.limit}`] : []),
    ...(role.until === null ? [] : [`VALID UNTIL ${quoteText(role.until)}`]),
    ...(role.password === null ? [] : [`PASSWORD ${quoteText(role.password)}`]),
  ].join(' ')
}

/** Of the roles made, in roles that are at the target by now. */
async function memberships(
  source: Session,
  made: ReadonlySet<string>,
  there: ReadonlySet<string>,
): Promise<readonly string[]> {
  const rows = await source.rows<{ role: string; member: string; admin: boolean }>(
    `SELECT DISTINCT pg_catalog.pg_get_userbyid(roleid) AS role,
       pg_catalog.pg_get_userbyid(member) AS member, bool_or(admin_option) AS admin
     FROM pg_catalog.pg_auth_members GROUP BY 1, 2 ORDER BY 1, 2`,
  )
  return rows
    .filter(({ role, member }) => made.has(member) || made.has(role))
    .filter((row) => [row.role, row.member].every((name) => made.has(name) || there.has(name)))
    .map(
      ({ role, member, admin }) =>
        `GRANT ${quoteName(role)} TO ${quoteName(member)}${admin ? ' WITH ADMIN OPTION' : ''}`,
    )
}

/** Those of the roles made that hold in every database; the others go with the database. */
async function settings(source: Session, made: ReadonlySet<string>): Promise<readonly string[]> {
  const rows = await source.rows<{ role: string; name: string; value: string }>(
    `SELECT pg_catalog.pg_get_userbyid(s.setrole) AS role, pg_catalog.split_part(c, '=', 1) AS name,
       pg_catalog.substr(c, pg_catalog.strpos(c, '=') + 1) AS value
     FROM pg_catalog.pg_db_role_setting s, pg_catalog.unnest(s.setconfig) c
     WHERE s.setdatabase = 0 AND s.setrole <> 0`,
  )
  return rows
    .filter(({ role }) => made.has(role))
    .map((row) => `ALTER ROLE ${quoteName(row.role)} ${settingClause(row)}`)
}

/** To the roles made. There are none before version 15. */
async function parameterGrants(
  source: Session,
  made: ReadonlySet<string>,
): Promise<readonly string[]> {
  if ((await majorOf(source)) < 15) return []
  const rows = await source.rows<{
    parameter: string
    role: string
    set: boolean
    grantable: boolean
  }>(
    `SELECT p.parname AS parameter, pg_catalog.pg_get_userbyid(a.grantee) AS role,
       a.privilege_type = 'SET' AS set, a.is_grantable AS grantable
     FROM pg_catalog.pg_parameter_acl p, pg_catalog.aclexplode(p.paracl) a WHERE a.grantee <> 0 ORDER BY 1, 2, 3`,
  )
  return rows
    .filter(({ role }) => made.has(role))
    .map(
      ({ parameter, role, set, grantable }) =>
        `GRANT ${set ? 'SET' : 'ALTER SYSTEM'} ON PARAMETER ${parameter.split('.').map(quoteName).join('.')} TO ${quoteName(role)}${grantable ? ' WITH GRANT OPTION' : ''}`,
    )
}

/** What cannot be made without its role, with the role: a policy for it, a user mapping of it. */
export async function boundToMissingRoles(
  source: Session,
  target: Session,
): Promise<readonly string[]> {
  const there = await target.rows<{ name: string }>(
    'SELECT rolname AS name FROM pg_catalog.pg_roles',
  )
  const rows = await source.rows<{ what: string }>(
    `SELECT 'policy ' || p.polname || ' on ' || p.polrelid::pg_catalog.regclass || ' (' || r.rolname || ')' AS what
     FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_roles r ON r.oid = ANY (p.polroles) WHERE r.rolname <> ALL ($1)
     UNION ALL
     SELECT 'user mapping for ' || m.usename || ' on server ' || m.srvname || ' (' || m.usename || ')'
     FROM pg_catalog.pg_user_mappings m WHERE m.umuser <> 0 AND m.usename <> ALL ($1)
     ORDER BY 1`,
    [there.map(({ name }) => name)],
  )
  return rows.map(({ what }) => what)
}

export function lacksRoles(bound: readonly string[]): string {
  return `The target lacks roles without which these cannot be made: ${listed(bound)}. Migrate roles too, create them there, or drop what names them.`
}
