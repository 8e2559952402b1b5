/**
 * Keeps the old target database under a name of the migration until the new one is complete, then drops it;
 * restores it when the migration fails.
 */

import { DatabaseEngineError } from '../engine.ts'
import { isTransient, quoteName, type Session } from './connect.ts'
import type { DatabaseTask } from './database-task.ts'
import { keptName } from './names.ts'

const sessionsAttemptsMax = 100
const sessionsMilliseconds = 50

interface Present {
  readonly isOpen: boolean
  readonly isTemplate: boolean
}

async function find(server: Session, name: string): Promise<Present | undefined> {
  const [found] = await server.rows<Present>(
    `SELECT datallowconn AS "isOpen", datistemplate AS "isTemplate"
     FROM pg_catalog.pg_database WHERE datname = $1`,
    [name],
  )
  return found
}

/** Ends its sessions and refuses new ones, so that what is restored is what was there. */
export async function keepReplaced(task: DatabaseTask, server: Session): Promise<void> {
  const present = await find(server, task.name)
  if (present === undefined) return
  if (present.isTemplate) {
    const message = `The target's database '${task.name}' is a template, which is not replaced: ALTER DATABASE ${quoteName(task.name)} IS_TEMPLATE false allows it.`
    throw new DatabaseEngineError('refused', message, { number: 603101 })
  }
  task.record.replaced = { isOpen: present.isOpen }
  task.save()
  if (present.isOpen) {
    await server.run(`ALTER DATABASE ${quoteName(task.name)} ALLOW_CONNECTIONS false`)
  }
  task.onBoundary('shut')
  await endSessionsIn(server, task.name)
  const kept = quoteName(keptName(task.migration, task.index))
  await server.run(`ALTER DATABASE ${quoteName(task.name)} RENAME TO ${kept}`)
  task.onBoundary('kept')
}

async function endSessionsIn(server: Session, database: string): Promise<void> {
  for (let attempt = 0; attempt < sessionsAttemptsMax; attempt++) {
    const ended = await server.rows(
      `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
       WHERE datname = $1 AND pid <> pg_catalog.pg_backend_pid()`,
      [database],
    )
    if (ended.length === 0) return
    await new Promise((done) => setTimeout(done, sessionsMilliseconds))
  }
}

/** Whether a database is restored if the migration does not succeed. */
export async function hasReplaced(task: DatabaseTask, server: Session): Promise<boolean> {
  if (task.record.pastReturn) return false
  return (await find(server, keptName(task.migration, task.index))) !== undefined
}

/** Called once the copy is gone. A crash may have left it closed under its own name. */
export async function putBackReplaced(task: DatabaseTask, server: Session): Promise<void> {
  const { replaced } = task.record
  const database = quoteName(task.name)
  if (await hasReplaced(task, server)) {
    const kept = quoteName(keptName(task.migration, task.index))
    await server.run(`ALTER DATABASE ${kept} RENAME TO ${database}`)
    task.record.isPutBack = true
  }
  if (replaced?.isOpen !== true || (await find(server, task.name)) === undefined) return
  await server.run(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`)
}

/** The new one is complete, whether or not the old one can be dropped; returns the reason when it cannot. */
export async function dropReplaced(task: DatabaseTask, server: Session): Promise<string[]> {
  const kept = keptName(task.migration, task.index)
  try {
    await server.run(`DROP DATABASE IF EXISTS ${quoteName(kept)} WITH (FORCE)`)
    return []
  } catch (error) {
    if (isTransient(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    return [
      `The database that was there before could not be dropped and is called ${kept} now: ${reason}.`,
    ]
  }
}
