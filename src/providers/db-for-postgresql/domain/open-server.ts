/** A registered server that may be changed: it is there, and no migration to it is under way. */

import { refuse } from '#kernel/error.ts'
import { parentOf } from '#kernel/resource-id.ts'
import type { GetContext } from '#plane/declare/computed.ts'
import { refusePostgres } from '../errors.ts'
import { type FoundServer, findServer } from '../resources/flexible-servers/model.ts'
import { findAtTarget } from './active-migration.ts'

/** The server that the id is directly below. */
export async function openServer({
  id,
  reader,
}: Pick<GetContext, 'id' | 'reader'>): Promise<FoundServer> {
  const server = parentOf(id)
  const found = await findServer(reader, server)
  if (found === undefined) throw refuse.ParentResourceNotFound({ id: server.text })
  const active = await findAtTarget(reader, server)
  if (active !== undefined) throw refusePostgres.ServerHasActiveMigration({ id: active.id.text })
  return found
}
