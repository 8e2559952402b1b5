/**
 * Does the target server reach the source, with the address, TLS and password that its subscription will have? Has
 * it try, by a subscription that is taken back at once; asked before a copy, which would be for nothing.
 */

import { DatabaseEngineError, type MigrationSpec } from '../engine.ts'
import { codeOf, keepOutOfLog, quoteText, type Session } from './connect.ts'
import { connectionText } from './replication.ts'

interface Reach {
  readonly spec: MigrationSpec
  /** A database of the source. */
  readonly database: string
  readonly sourcePassword: string
  /** In any database of the target where its user may create things. */
  readonly target: Session
}

/** Says what hinders it; undefined where nothing does, and where the target's user may not try. */
export async function hindranceOfTarget(reach: Reach): Promise<DatabaseEngineError | undefined> {
  const { spec, database, sourcePassword, target } = reach
  const connection = quoteText(connectionText(spec, database, sourcePassword))
  await target.run('BEGIN')
  try {
    await keepOutOfLog(target)
    await target.run(
      `CREATE SUBSCRIPTION mig_trial CONNECTION ${connection} PUBLICATION none
       WITH (create_slot = false, slot_name = NONE, enabled = false, copy_data = false)`,
    )
    return undefined
  } catch (error) {
    const code = codeOf(error)
    // 42501: no right to subscribe, or to create things here; the first is found by a check of its own.
    if (code === '42501' || !(error instanceof Error)) return undefined
    const { host, port } = spec.sourceFromTarget ?? spec.source
    const isTls = /certificate|SSL/.test(error.message)
    return new DatabaseEngineError(
      isTls ? 'refused' : 'unavailable',
      `The target server cannot connect to the source at ${host}:${port} with the TLS mode '${spec.source.sslMode}', as the online phase takes: ${error.message}`,
      { cause: error, number: isTls ? 603001 : 603000 },
    )
  } finally {
    await target.run('ROLLBACK')
  }
}
