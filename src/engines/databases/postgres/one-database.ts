/** Creates or drops a single database of a server on request, outside of migrations. */

import type { DatabaseWanted } from '../engine.ts'
import { connect, quoteName, quoteText, type ReachableServer, translate } from './connect.ts'

/** From the empty template: another one may have another encoding. */
export function createDatabase(server: ReachableServer, wanted: DatabaseWanted): Promise<void> {
  const { name, encoding, collation } = wanted
  const words = [`CREATE DATABASE ${quoteName(name)} TEMPLATE template0`]
  if (encoding !== undefined) words.push(`ENCODING ${quoteText(encoding)}`)
  if (collation !== undefined) {
    words.push(`LC_COLLATE ${quoteText(collation)} LC_CTYPE ${quoteText(collation)}`)
  }
  return runOnce(server, words.join(' '))
}

/** With its sessions, like the published service. A missing one is no error. */
export function dropDatabase(server: ReachableServer, name: string): Promise<void> {
  return runOnce(server, `DROP DATABASE IF EXISTS ${quoteName(name)} WITH (FORCE)`)
}

async function runOnce(server: ReachableServer, statement: string): Promise<void> {
  try {
    await using session = await connect(server, {
      // Never the one that is dropped: `postgres` is refused before.
      database: server.address.database ?? 'postgres',
      applicationName: 'armature databases',
    })
    await session.run(statement)
  } catch (error) {
    throw translate(error, server)
  }
}
