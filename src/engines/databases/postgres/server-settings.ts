/** What a server is set to, and one setting at a time changed. */

import { DatabaseEngineError, type ServerSetting } from '../engine.ts'
import {
  codeOf,
  connect,
  quoteName,
  quoteText,
  type ReachableServer,
  type Session,
  translate,
} from './connect.ts'

/**
 * Without what may hold a secret of the server or says where its files stand: addresses of other servers, commands and
 * what applications set under names of their own. Whoever reads settings need not be let in to the server.
 */
const shown = `category <> 'Customized Options'
  AND name !~ '(conninfo|_command$|passphrase|secret|token|_key$|keyfile$|_file$|^data_directory$)'
  AND coalesce(reset_val, '') !~* 'passw(or)?d *='`

/**
 * Not what is written as text, which may name a program, a library or a folder of the server's machine, except four that
 * cannot. Nor what decides who gets in, or whether a crash loses data.
 */
const mayChange = `context <> 'internal'
  AND (vartype <> 'string' OR name IN ('TimeZone', 'DateStyle', 'log_timezone', 'default_text_search_config'))
  AND category NOT IN ('Developer Options', 'File Locations',
    'Connections and Authentication / SSL', 'Connections and Authentication / Authentication')
  AND name NOT IN ('port', 'bonjour', 'unix_socket_permissions', 'fsync', 'full_page_writes')`

/** As the server has it, in the unit beside it: our own sessions set some of them for themselves. */
const settingsQuery = `
SELECT name, coalesce(reset_val, '') AS value, vartype AS type,
  coalesce(boot_val, '') AS "builtIn", coalesce(unit, '') AS unit, short_desc AS description,
  coalesce(enumvals, ARRAY[]::text[]) AS words, min_val AS least, max_val AS most,
  CASE WHEN source = 'session' AND reset_val IS NOT DISTINCT FROM boot_val THEN 'default' ELSE source END AS source,
  context = 'internal' AS "isFixed", context = 'postmaster' AS "needsRestart",
  pending_restart AS "awaitsRestart", ${mayChange} AS "mayChange"
FROM pg_catalog.pg_settings
WHERE ${shown}
ORDER BY name`

const mayChangeQuery = `SELECT name FROM pg_catalog.pg_settings WHERE name = $1 AND ${shown} AND ${mayChange}`

export async function readSettings(server: ReachableServer): Promise<readonly ServerSetting[]> {
  const read = (session: Session): Promise<readonly ServerSetting[]> =>
    session.rows<ServerSetting>(settingsQuery)
  try {
    return await within(server, read, { keepsTimeouts: true })
  } catch (error) {
    if (!isTimeout(error)) throw error
    // Its own time-out is too short to read anything, and so two settings are shown as our session has them.
    return within(server, read)
  }
}

/** Query canceled. */
const canceled = '57014'

function isTimeout(error: unknown): boolean {
  return error instanceof DatabaseEngineError && codeOf(error.cause) === canceled
}

export function changeSetting(
  server: ReachableServer,
  name: string,
  value: string | undefined,
): Promise<void> {
  return within(server, async (session) => {
    if ((await session.value(mayChangeQuery, [name])) === undefined) {
      throw new DatabaseEngineError('refused', `The setting '${name}' is not changed from here.`)
    }
    const change = value === undefined ? 'RESET' : 'SET'
    const to = value === undefined ? '' : ` = ${quoteText(value)}`
    await session.run(`ALTER SYSTEM ${change} ${quoteName(name)}${to}`)
    await reload(session)
  })
}

const readAgainMax = 100

/** The server reads its files before its sessions do: whoever comes after this session has read them finds the change. */
async function reload(session: Session): Promise<void> {
  const loaded = (): Promise<string | undefined> =>
    session.value('SELECT pg_catalog.pg_conf_load_time()::text')
  const before = await loaded()
  await session.run('SELECT pg_catalog.pg_reload_conf()')
  for (let looks = 0; looks < readAgainMax && (await loaded()) === before; looks++) {
    await session.run('SELECT pg_catalog.pg_sleep(0.02)')
  }
}

async function within<T>(
  server: ReachableServer,
  work: (session: Session) => Promise<T>,
  more: { readonly keepsTimeouts?: true } = {},
): Promise<T> {
  try {
    await using session = await connect(server, {
      ...more,
      database: server.address.database ?? 'postgres',
      applicationName: 'armature settings',
    })
    return await work(session)
  } catch (error) {
    throw translate(error, server)
  }
}
