/**
 * The schema, by the servers' own client programs: dumped once in the snapshot, restored in two parts around
 * the data. Carries no rows.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { DatabaseEngineError } from '../engine.ts'
import { runProgram, setsTransactionTimeout } from './client-programs.ts'
import { connectionWord, majorOf, type ReachableServer, type Session } from './connect.ts'
import {
  type DatabaseTask,
  nameOf,
  openTargetServer,
  sourceAccess,
  targetAccess,
} from './database-task.ts'

/** `copied`: as it was when the rows were copied. `now`: as it was read to catch up with it. */
type DumpOf = 'copied' | 'now'

const endings = ['dump', 'list', 'after-rows', 'chosen'] as const

function fileOf(task: DatabaseTask, of: DumpOf, ending: (typeof endings)[number]): string {
  return join(task.folder, `schema-${task.index}-${of}.${ending}`)
}

/** Client programs take authorities from a file only; where none are told, they trust those that we do. */
function certificateFile(task: DatabaseTask, access: ReachableServer, side: string) {
  const { rootCertificates = getCACertificates().join('\n'), sslMode } = access.address
  if (!sslMode.startsWith('verify')) return undefined
  const file = join(task.folder, `${side}-authorities.pem`)
  writeFileSync(file, rootCertificates, { mode: 0o600 })
  return file
}

/** No rows are dumped. A source that answers without end, which takes no more memory after a while, takes no more time either. */
const dumpSecondsMax = 6 * 3600

/**
 * Tablespaces are the operator's and stay out; subscriptions are of the source's own replication, which a copy must not
 * join. Publications come at the end (`publications.ts`), where the right to one lacks nothing but that one.
 */
async function dumpOnce(task: DatabaseTask, of: DumpOf, snapshot?: string): Promise<void> {
  const server = sourceAccess(task.spec, task.credentials)
  await runProgram({
    programs: task.programs,
    name: 'pg_dump',
    args: [
      '--format=custom',
      '--compress=0',
      '--section=pre-data',
      '--section=post-data',
      '--no-publications',
      '--no-subscriptions',
      '--no-tablespaces',
      ...(task.record.leavesCompression ? ['--no-toast-compression'] : []),
      // A newer version may know more keywords: system_user, from 16.
      '--quote-all-identifiers',
      // It holds the locks that it has while it waits for another.
      '--lock-wait-timeout=500ms',
      ...(snapshot === undefined ? [] : [`--snapshot=${snapshot}`]),
    ],
    server,
    database: task.name,
    applicationName: nameOf(task),
    rootCertificateFile: certificateFile(task, server, 'source'),
    outputFile: fileOf(task, of, 'dump'),
    signal: task.signal,
    seconds: task.programSeconds ?? dumpSecondsMax,
  })
}

const dumpAttemptsMax = 30
const dumpPauseMilliseconds = 500
/** A lock that is not given, and a dump that was ended so that somebody else comes through. */
const yielded = /due to (?:lock timeout|user request|administrator command)/
/** What was dropped after the snapshot was made. */
const gone = /does not exist|could not open relation|cache lookup failed/

/** The structure with a list of what is in it. */
export async function dumpSchema(task: DatabaseTask, of: DumpOf, snapshot?: string): Promise<void> {
  await dumpWithoutList(task, of, snapshot)
  await listDump(task, of, 'list')
}

/** Gives way to whoever alters the structure, and is tried again. */
export async function dumpWithoutList(
  task: DatabaseTask,
  of: DumpOf,
  snapshot?: string,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await dumpOnce(task, of, snapshot)
      break
    } catch (error) {
      if (!(error instanceof DatabaseEngineError)) throw error
      if (gone.test(error.message)) {
        const message = `The structure of the source was altered while it was read. ${error.message}`
        throw new DatabaseEngineError('busy', message, { cause: error })
      }
      if (!yielded.test(error.message) || attempt === dumpAttemptsMax) throw error
    }
    await new Promise((done) => setTimeout(done, dumpPauseMilliseconds))
  }
}

/** Makes both lists of a dump, each by a program of its own. */
export async function makeLists(task: DatabaseTask, of: DumpOf): Promise<void> {
  await Promise.all([listDump(task, of, 'list'), listDump(task, of, 'after-rows')])
}

async function listDump(
  task: DatabaseTask,
  of: DumpOf,
  into: 'list' | 'after-rows',
): Promise<readonly string[]> {
  await runProgram({
    programs: task.programs,
    name: 'pg_restore',
    args: [
      '--list',
      ...(into === 'after-rows' ? ['--section=post-data'] : []),
      fileOf(task, of, 'dump'),
    ],
    server: targetAccess(task.spec, task.credentials),
    database: task.name,
    applicationName: nameOf(task),
    rootCertificateFile: undefined,
    outputFile: fileOf(task, of, into),
    signal: task.signal,
    seconds: task.programSeconds,
  })
  return readList(fileOf(task, of, into))
}

function readList(file: string): readonly string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^\d+; /.test(line))
}

/** Lines of a dump's list, in the order they are restored in. */
export function listOfDump(task: DatabaseTask, of: DumpOf): readonly string[] {
  return readList(fileOf(task, of, 'list'))
}

/**
 * The lines of what is restored after the rows. `pg_restore` takes a comment to be of the section of the line before it in the
 * list it is given, so where a key is left out of a list of everything, its comment would count as of the section before.
 */
export function listAfterRows(task: DatabaseTask, of: DumpOf): Promise<readonly string[]> {
  return listDump(task, of, 'after-rows')
}

/** The same, of a dump whose lists are made. */
export function linesAfterRows(task: DatabaseTask, of: DumpOf): readonly string[] {
  return readList(fileOf(task, of, 'after-rows'))
}

/** What such a line says of an object, without its numbers in the dump and at the server. */
export function entryOf(line: string): string {
  return line.replace(/^\d+; \d+ \d+ /, '')
}

/** The object's numbers at the source, from a line of a dump's list: `3379; 2606 16391 CONSTRAINT …`. */
export function entryNumbers(line: string): string {
  return /^\d+; (\d+ \d+) /.exec(line)?.[1] ?? ''
}

export function isForeignKey(line: string): boolean {
  return entryOf(line).startsWith('FK CONSTRAINT ')
}

/** Among what is restored after the rows. */
const keyedViews = /^(?:MATERIALIZED VIEW (?!DATA )|RULE .* _RETURN )/

interface RestoreStep {
  readonly lines: readonly string[]
  readonly inOrder: boolean
}

/**
 * The entries after the rows, in runs one after the other. Attaching an index of a partition looks whether its parent is
 * complete now, and does not see what another session attaches at the same moment: then nobody marks the parent valid. So
 * these run one by one, after the indexes and before what may need them, such as foreign keys. A view that needs a key comes
 * after the rows too, and indexes of a materialized one come after it.
 */
export function stepsAfterRows(
  all: readonly string[],
  late: ReadonlySet<string> = new Set(),
): readonly RestoreStep[] {
  const isLate = (line: string): boolean => late.has(entryNumbers(line))
  const lines = all.filter((line) => !isLate(line))
  const last = { lines: all.filter(isLate), inOrder: true }
  const isAttachment = (line: string): boolean => entryOf(line).startsWith('INDEX ATTACH ')
  const attachments = lines.filter(isAttachment)
  if (attachments.length === 0) return [{ lines, inOrder: false }, last]
  const others = lines.filter((line) => !isAttachment(line))
  const isIndex = (line: string): boolean => /^(?:INDEX|CONSTRAINT) /.test(entryOf(line))
  const isKeyed = (line: string): boolean => keyedViews.test(entryOf(line))
  const keyed = others.filter(isKeyed)
  const isKey = (line: string): boolean => entryOf(line).startsWith('CONSTRAINT ')
  const indexes = others.filter(isIndex)
  const early =
    keyed.length === 0
      ? [indexes]
      : [indexes.filter(isKey), keyed, indexes.filter((line) => !isKey(line))]
  return [
    ...early.map((some) => ({ lines: some, inOrder: false })),
    { lines: attachments, inOrder: true },
    { lines: others.filter((line) => !isIndex(line) && !isKeyed(line)), inOrder: false },
    last,
  ]
}

/**
 * Triggers of partitions. Those that fire otherwise than their parents' have entries in a dump, which does not say that the parents'
 * come before them: so these come last.
 */
export async function triggersOfPartitions(source: Session): Promise<ReadonlySet<string>> {
  const rows = await source.rows<{ entry: string }>(
    `SELECT pg_catalog.format('%s %s', d.classid::pg_catalog.oid, d.objid) AS entry FROM pg_catalog.pg_depend d
     WHERE d.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass AND d.refclassid = d.classid`,
  )
  return new Set(rows.map(({ entry }) => entry))
}

interface Restore {
  readonly of: DumpOf
  readonly section?: 'pre-data' | 'post-data'
  /** Lines of the dump's list; all of them without it. */
  readonly lines?: readonly string[]
  /** Goes on after what fails, which is what the target has already; the caller compares. */
  readonly lenient?: boolean
  /** One after the other, also where several would go at once. */
  readonly inOrder?: boolean
  /** At the target; by default of the source's name. */
  readonly database?: string
}

export async function restoreSchema(task: DatabaseTask, restore: Restore): Promise<void> {
  const { of, section, lines, lenient = false, inOrder = false, database = task.name } = restore
  if (lines?.length === 0) return
  const server = targetAccess(task.spec, task.credentials)
  const ownership = task.record.owners ? [] : ['--no-owner', '--no-privileges']
  const isOlder = await isOlderThanPrograms(task)
  // The words of several jobs run into each other, and here they have to be understood.
  const parallel =
    section === 'post-data' && task.spec.tablesAtOnce > 1 && !inOrder && !isOlder
      ? [`--jobs=${task.spec.tablesAtOnce}`]
      : []
  const chosen = fileOf(task, of, 'chosen')
  if (lines !== undefined) writeFileSync(chosen, `${lines.join('\n')}\n`, { mode: 0o600 })
  await runProgram({
    programs: task.programs,
    name: 'pg_restore',
    args: [
      // Beside a list it would take a comment or a grant at its beginning to be of another section.
      ...(section === undefined || lines !== undefined ? [] : [`--section=${section}`]),
      ...(lines === undefined ? [] : [`--use-list=${chosen}`]),
      ...(lenient || isOlder ? [] : ['--exit-on-error']),
      '--no-tablespaces',
      ...ownership,
      ...parallel,
      // Any other form may be taken for an address, or for several words.
      `--dbname=dbname=${connectionWord(database)}`,
      fileOf(task, of, 'dump'),
    ],
    server,
    database,
    applicationName: nameOf(task),
    rootCertificateFile: certificateFile(task, server, 'target'),
    endsAtError: !lenient && isOlder,
    signal: task.signal,
    seconds: task.programSeconds,
  })
}

async function isOlderThanPrograms(task: DatabaseTask): Promise<boolean> {
  if (task.programs.major < setsTransactionTimeout) return false
  await using server = await openTargetServer(task)
  return (await majorOf(server)) < setsTransactionTimeout
}

/** With its list, unless what comes later is compared with that. */
export function dropDump(task: DatabaseTask, of: DumpOf, { keepList = false } = {}): void {
  for (const ending of endings) {
    if (ending !== 'list' || !keepList) rmSync(fileOf(task, of, ending), { force: true })
  }
}

export function dropDumps(task: DatabaseTask): void {
  dropDump(task, 'copied')
  dropDump(task, 'now')
}

/**
 * Roles that own or may use something in the source database and are missing at the target; and those that own
 * something there which the target's user may not give away to them.
 */
export async function missingRoles(source: Session, target: Session): Promise<readonly string[]> {
  const used = await source.rows<{ name: string; owns: boolean }>(`
    SELECT pg_catalog.pg_get_userbyid(s.refobjid) AS name, pg_catalog.bool_or(s.deptype = 'o') AS owns
    FROM pg_catalog.pg_shdepend s
    JOIN pg_catalog.pg_database d ON d.datname = pg_catalog.current_database()
    WHERE s.refclassid = 'pg_catalog.pg_authid'::regclass
      AND (s.dbid = d.oid OR (s.dbid = 0 AND s.objid = d.oid))
    GROUP BY 1
    UNION
    SELECT pg_catalog.pg_get_userbyid(c.relowner), true FROM pg_catalog.pg_class c
    WHERE c.relowner = 10 AND c.oid >= 16384`)
  const may = (await majorOf(target)) >= 16 ? 'SET' : 'MEMBER'
  const there = await target.rows<{ name: string; may: boolean }>(
    `SELECT rolname AS name, pg_catalog.pg_has_role(current_user, oid, '${may}') AS may
     FROM pg_catalog.pg_roles`,
  )
  const known = new Map(there.map((role) => [role.name, role.may]))
  return used
    .filter(({ name, owns }) => known.get(name) !== true && (owns || !known.has(name)))
    .map(({ name }) => name)
}

/** Columns that are to be compressed in a way that the target's server was built without. */
export async function foreignCompression(source: Session, target: Session): Promise<number> {
  if ((await majorOf(source)) < 14) return 0
  const methods = await target.value(
    "SELECT enumvals FROM pg_catalog.pg_settings WHERE name = 'default_toast_compression'",
  )
  if (methods?.includes('lz4') === true) return 0
  return Number(
    await source.value(
      `SELECT pg_catalog.count(*) FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
       WHERE a.attcompression = 'l' AND NOT a.attisdropped AND c.oid >= 16384 AND c.relkind IN ('r', 'p', 'm')`,
    ),
  )
}
