/** Are two addresses one server? Migrated into itself, a database would be dropped before it is copied. */

import { DatabaseEngineError } from '../engine.ts'
import type { Session } from './connect.ts'

const identityQuery = `
SELECT system_identifier::text AS system, pg_catalog.pg_is_in_recovery() AS standby,
  extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text AS started
FROM pg_catalog.pg_control_system()`

interface Identity {
  readonly system: string
  readonly standby: boolean
  readonly started: string
}

/** A standby is one with its primary: what is dropped there goes here too. A restored copy is another server. */
export async function isSameServer(source: Session, target: Session): Promise<boolean> {
  const [one] = await source.rows<Identity>(identityQuery)
  const [other] = await target.rows<Identity>(identityQuery)
  if (one === undefined || other === undefined) throw new Error('a server has no identity')
  if (one.system !== other.system) return false
  return one.started === other.started || one.standby || other.standby
}

export const sameServer =
  'The source and the target are the same server: a database cannot be migrated into itself. Take another target.'

export async function requireOtherServer(source: Session, target: Session): Promise<void> {
  if (await isSameServer(source, target)) throw new DatabaseEngineError('refused', sameServer)
}
