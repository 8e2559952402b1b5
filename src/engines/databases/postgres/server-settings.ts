/** What a server is set to. Changes nothing. */

import type { ServerSetting } from '../engine.ts'
import { connect, type ReachableServer, translate } from './connect.ts'

/**
 * Without what may hold a secret of the server or says where its files stand: addresses of other servers, commands and
 * what applications set under names of their own. Whoever reads settings need not be let in to the server.
 */
const settingsQuery = `
SELECT name, coalesce(pg_catalog.current_setting(name, true), '') AS value, vartype AS type,
  coalesce(boot_val, '') AS "builtIn", coalesce(unit, '') AS unit, short_desc AS description,
  coalesce(enumvals, ARRAY[]::text[]) AS words, min_val AS least, max_val AS most,
  source, context = 'internal' AS "isFixed", context = 'postmaster' AS "needsRestart",
  pending_restart AS "awaitsRestart"
FROM pg_catalog.pg_settings
WHERE category <> 'Customized Options'
  AND name !~ '(conninfo|_command$|passphrase|secret|token|_key$|keyfile$|_file$|^data_directory$)'
  AND coalesce(pg_catalog.current_setting(name, true), '') !~* 'passw(or)?d *='
ORDER BY name`

export async function readSettings(server: ReachableServer): Promise<readonly ServerSetting[]> {
  try {
    await using session = await connect(server, {
      database: server.address.database ?? 'postgres',
      applicationName: 'armature settings',
    })
    return await session.rows<ServerSetting>(settingsQuery)
  } catch (error) {
    throw translate(error, server.address)
  }
}
