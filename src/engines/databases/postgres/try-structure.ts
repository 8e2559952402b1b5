/**
 * Would the structure of a database be taken by the target? It is restored there, without rows, into a scratch database that is
 * made for that and dropped: what would fail in the middle of the migration fails before it.
 */

import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#kernel/ports.ts'
import type { MigrationSpec } from '../engine.ts'
import { connect, type Means, quoteName, quoteText, type Session } from './connect.ts'
import { type DatabaseTask, nameOf, targetAccess } from './database-task.ts'
import type { ClientPrograms } from './find-client-programs.ts'
import { freshRecord } from './record.ts'
import {
  dumpSchema,
  entryOf,
  foreignCompression,
  listAfterRows,
  listOfDump,
  missingRoles,
  restoreSchema,
  stepsAfterRows,
  triggersOfPartitions,
} from './schema.ts'
import { readStructure } from './structure.ts'
import {
  differencesOf,
  keyOf,
  type StructureObject,
  tableOfExtension,
} from './structure-difference.ts'
import { createLike } from './target-database.ts'

interface StructureTrial {
  readonly spec: MigrationSpec
  readonly name: string
  readonly credentials: Means
  readonly programs: ClientPrograms
  /** Where the dump may stand meanwhile. */
  readonly folder: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** In the database itself. */
  readonly source: Session
  /** In the maintenance database. */
  readonly target: Session
}

/** The dump, and each half of the restoring. */
const programSeconds = 300
/** Longer than all of them: a scratch database that is older was left by a crash. */
const leftMilliseconds = 3_600_000
/** What views hold is made by functions of the source, which may take any time. */
const untried = /^MATERIALIZED VIEW DATA /
/** They name roles. Those that the target lacks come with the migration, not with its validation. */
const named = /^(?:POLICY|USER MAPPING|COMMENT .*POLICY) /
const mark = 'Scratch database of a validation, to be dropped. Made at '

/**
 * How the target makes the structure another one, in words. `refused` with the first thing that it does not take, `unavailable`
 * when it could not be tried to the end.
 */
export async function tryStructure(trial: StructureTrial): Promise<readonly string[]> {
  const { source, target, folder } = trial
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  await dropLeft(trial)
  const own = mkdtempSync(join(folder, `${trial.clock.now()}-`))
  const task = taskOf(trial, own)
  task.record.owners = (await missingRoles(source, target)).length === 0
  task.record.leavesCompression = (await foreignCompression(source, target)) > 0
  const scratch = nameOf(task)
  try {
    await dumpSchema(task, 'copied')
    await createLike(source, target, task.name, scratch)
    await target.run(
      `COMMENT ON DATABASE ${quoteName(scratch)} IS ${quoteText(`${mark}${trial.clock.now()}`)}`,
    )
    const after = new Set(await listAfterRows(task, 'copied'))
    const ahead = listOfDump(task, 'copied').filter((line) => !after.has(line))
    const isTried = (line: string): boolean =>
      !untried.test(entryOf(line)) && (task.record.owners || !named.test(entryOf(line)))
    const made = { of: 'copied', database: scratch } as const
    await restoreSchema(task, { ...made, section: 'pre-data', lines: ahead.filter(isTried) })
    for (const step of stepsAfterRows(
      [...after].filter(isTried),
      await triggersOfPartitions(source),
    )) {
      await restoreSchema(task, { ...made, section: 'post-data', ...step })
    }
    return await differencesOfTrial(task, source, scratch)
  } finally {
    rmSync(own, { recursive: true, force: true })
    await target.run(`DROP DATABASE IF EXISTS ${quoteName(scratch)} WITH (FORCE)`)
  }
}

/** Of what was restored, which may not be all. */
async function differencesOfTrial(
  task: DatabaseTask,
  source: Session,
  scratch: string,
): Promise<readonly string[]> {
  const access = targetAccess(task.spec, task.credentials)
  await using inside = await connect(access, { database: scratch, applicationName: nameOf(task) })
  const there = await readStructure(inside)
  const restored = new Set(there.objects.map(keyOf))
  const all = await readStructure(source)
  const isTried = (one: StructureObject): boolean =>
    restored.has(keyOf(one)) || one.kind === tableOfExtension
  const here = { ...all, objects: all.objects.filter(isTried) }
  return differencesOf({
    source: { copied: here, now: here },
    target: { copied: there, now: there },
    owners: task.record.owners,
    leavesCompression: task.record.leavesCompression,
    identities: new Set(),
    silenced: new Map(),
    unsent: [],
  })
}

/** A task of no migration: nothing of it is kept. */
function taskOf(trial: StructureTrial, folder: string): DatabaseTask {
  const { spec, name, credentials, programs, clock, signal } = trial
  return {
    migration: `trial${randomBytes(6).toString('hex')}`,
    index: 0,
    name,
    spec,
    credentials,
    programs,
    clock,
    folder,
    record: freshRecord(name, 1),
    resumed: false,
    signal,
    programSeconds,
    save: () => undefined,
    cutoverAsked: () => false,
    catchUpsWanted: () => 0,
    onBoundary: () => undefined,
  }
}

/** By a process that was ended in the middle. */
async function dropLeft({ target, clock, folder }: StructureTrial): Promise<void> {
  const isLeft = (made: string): boolean => clock.now() - Number(made) > leftMilliseconds
  for (const name of readdirSync(folder)) {
    if (isLeft(name.split('-')[0] ?? ''))
      rmSync(join(folder, name), { recursive: true, force: true })
  }
  const rows = await target.rows<{ name: string; made: string }>(
    `SELECT datname AS name, pg_catalog.substr(c, pg_catalog.length($1) + 1) AS made
     FROM pg_catalog.pg_database, pg_catalog.shobj_description(oid, 'pg_database') c
     WHERE datname ~ '^mig_trial[0-9a-f]+_0$' AND pg_catalog.starts_with(c, $1)`,
    [mark],
  )
  for (const { name, made } of rows) {
    if (isLeft(made)) await target.run(`DROP DATABASE IF EXISTS ${quoteName(name)} WITH (FORCE)`)
  }
}
