/**
 * Is the structure at both ends still the one that was copied? Changes of it are not replicated, so rows of a table made
 * meanwhile, or an index, a default, a policy, would be missing at the target without a word. Reads and keeps
 * structures; what differs between them is `structure-difference.ts`'s to say.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '#files/replace-file.ts'
import { DatabaseEngineError } from '../engine.ts'
import { codeOf, majorOf, type Session } from './connect.ts'
import { type DatabaseTask, nameOf, openSource, openTarget } from './database-task.ts'
import { readRows, replacedRows } from './replaced-rows.ts'
import {
  differencesOf,
  linesInWords,
  nameOfTable,
  type Structure,
  type StructureObject,
} from './structure-difference.ts'
import { signatureQuery, structureQuery, unpublishedQuery } from './structure-queries.ts'

type Side = 'source' | 'target'

/** An ALTER that is under way is not waited for long. */
const lockTimeout = '2s'
/** A lock that is not given, and objects that were dropped while they were read. */
const raced: ReadonlySet<string> = new Set(['55P03', 'XX000', '42P01', '42704', '42883'])

export async function readStructure(session: Session): Promise<Structure> {
  const major = await majorOf(session)
  await session.run(
    `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
     SET LOCAL quote_all_identifiers = on; SET LOCAL search_path = ''; SET LOCAL lock_timeout = '${lockTimeout}'`,
  )
  try {
    const signature = await session.value(signatureQuery)
    const objects = await session.rows<StructureObject>(structureQuery(major))
    await session.run('COMMIT')
    return { major, objects, ...(signature === undefined ? {} : { signature }) }
  } catch (cause) {
    const code = codeOf(cause)
    if (code === undefined || !raced.has(code)) throw cause
    await session.run('ROLLBACK')
    const message = 'The structure is being altered at this moment.'
    throw new DatabaseEngineError('busy', message, { cause })
  }
}

function fileOf(task: DatabaseTask, side: Side): string {
  return join(task.folder, `structure-${task.index}-${side}.json`)
}

/** Absent for a migration that an earlier version of this program began. */
export function recordedStructure(task: DatabaseTask, side: Side): Structure | undefined {
  try {
    // Written by `recordStructure` alone.
    return JSON.parse(readFileSync(fileOf(task, side), 'utf8')) as Structure
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Keeps the structure as it is now. At the source this comes before the snapshot: what is altered later differs from
 * it, whether the copy has it or not.
 */
export async function recordStructure(task: DatabaseTask, side: Side): Promise<void> {
  await using session = await (side === 'source' ? openSource(task) : openTarget(task))
  const rows = side === 'source' ? { rows: await readRows(session) } : {}
  const text = JSON.stringify({ ...(await readStructure(session)), ...rows })
  writeFileSync(fileOf(task, side), text, { mode: 0o600, flush: true })
}

/** Before these tables are copied anew: what is altered later is found. */
export async function recordRows(
  task: DatabaseTask,
  source: Session,
  tables: readonly string[],
): Promise<void> {
  const recorded = recordedStructure(task, 'source')
  if (recorded === undefined || tables.length === 0) return
  const isAnew = new Set(tables)
  const anew = Object.entries(await readRows(source)).filter(([name]) => isAnew.has(name))
  const rows = { ...recorded.rows, ...Object.fromEntries(anew) }
  replaceFile(fileOf(task, 'source'), JSON.stringify({ ...recorded, rows }))
}

/** Tables whose rows at the target are others than the source's, though nothing of them is sent: why, by name. */
export async function rowsReplaced(
  task: DatabaseTask,
  source: Session,
  copied = recordedStructure(task, 'source'),
): Promise<ReadonlyMap<string, string>> {
  const publication = task.spec.mode === 'offline' ? undefined : nameOf(task)
  if (copied?.rows === undefined) return new Map()
  return replacedRows(copied.rows, await readRows(source, publication))
}

export function renameInRecorded(
  task: DatabaseTask,
  current: (one: StructureObject) => StructureObject,
): void {
  for (const side of ['source', 'target'] as const) {
    const recorded = recordedStructure(task, side)
    if (recorded === undefined) continue
    // It is what no catalog holds any more, so its signature is nobody's.
    const { signature: _, objects, ...rest } = recorded
    const text = JSON.stringify({ ...rest, objects: objects.map(current) })
    replaceFile(fileOf(task, side), text)
  }
}

export function dropRecordedStructures(task: DatabaseTask): void {
  for (const side of ['source', 'target'] as const) rmSync(fileOf(task, side), { force: true })
}

/** Compares both ends as often as it is asked; reads them only when their catalogs have changed since. */
export class StructureWatch {
  readonly #task: DatabaseTask
  #signature: string | undefined
  #differences: readonly string[] = []

  constructor(task: DatabaseTask) {
    this.#task = task
  }

  /** In a person's words; empty where both ends are alike. */
  async differences(source: Session, target: Session): Promise<readonly string[]> {
    const signatures = await Promise.all([
      source.value(signatureQuery),
      target.value(signatureQuery),
    ])
    // What is copied anew is left out, for as long as that goes on.
    const signature = [...signatures, ...this.#task.record.resync].join(' ')
    if (signature !== this.#signature) {
      this.#differences = await this.#compare(source, target, signatures)
      this.#signature = signature
    }
    return this.#differences
  }

  /** `busy` when they differ: whoever waits goes on once they are alike. */
  async requireAlike(source: Session, target: Session): Promise<void> {
    const lines = await this.differences(source, target)
    if (lines.length > 0) throw new DatabaseEngineError('busy', unlike(lines))
  }

  async #compare(
    source: Session,
    target: Session,
    [signature, signatureThere]: readonly [string | undefined, string | undefined],
  ): Promise<readonly string[]> {
    const task = this.#task
    // Catching up renames tables in what was recorded.
    const copied = recordedStructure(task, 'source')
    const copiedThere = recordedStructure(task, 'target')
    const [here, there] = await Promise.all([
      readUnlessSame(source, copied, signature),
      readUnlessSame(target, copiedThere, signatureThere),
    ])
    const unsent =
      task.spec.mode === 'offline'
        ? []
        : await source.rows<{ path: readonly string[] }>(unpublishedQuery, [nameOf(task)])
    const replaced = await rowsReplaced(task, source, copied)
    const lines = differencesOf({
      source: { copied, now: here },
      // An offline copy is compared as soon as it is made.
      target: { copied: task.spec.mode === 'offline' ? there : copiedThere, now: there },
      owners: task.record.owners,
      leavesCompression: task.record.leavesCompression,
      identities: new Set(task.record.identities.map(({ table }) => table)),
      silenced: new Map(
        task.record.triggers.map(({ table, name, fires }) => [`${table} ${name}`, fires]),
      ),
      unsent: unsent
        .map(({ path }) => path)
        .filter((path) => !task.record.resync.includes(nameOfTable(path))),
    })
    const waits = new Set(task.record.resync)
    return [...lines, ...[...replaced].flatMap(([name, why]) => (waits.has(name) ? [] : [why]))]
  }
}

/** Catalogs of the same signature hold the same structure. */
async function readUnlessSame(
  session: Session,
  copied: Structure | undefined,
  signature: string | undefined,
): Promise<Structure> {
  const isSame = copied?.signature !== undefined && copied.signature === signature
  return isSame ? copied : readStructure(session)
}

export function unlike(lines: readonly string[]): string {
  return `The structure of source and target differs: ${linesInWords(lines)}.`
}
