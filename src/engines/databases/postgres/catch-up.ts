/**
 * Carries over what was altered at the source since the copy was made: new objects from a dump, columns and what belongs
 * to them by statements. Tables whose rows cannot be relied on any more, and new ones, are copied by the target's own
 * replication, which joins such a copy to the changes that flow. Everything can be done again after a crash.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { alteredTables, readTables, type SourceTable } from './catalog.ts'
import { type CatchUpPlan, planCatchUp, type Structures } from './catch-up-plan.ts'
import { isTransient, majorOf, type Session } from './connect.ts'
import { type DatabaseTask, nameOf, openSource, openTarget, tell } from './database-task.ts'
import { giveWay } from './give-way.ts'
import { parseLsn } from './lag.ts'
import { fewWords } from './record.ts'
import {
  entryOfTable,
  type RenamedTable,
  renamedTables,
  renameInRecord,
  statementsToRename,
} from './renamed-tables.ts'
import {
  markLog,
  publish,
  refreshSubscription,
  setIdentities,
  tablesUnderWay,
  unpublished,
} from './replication.ts'
import {
  dropDump,
  dumpSchema,
  entryNumbers,
  entryOf,
  isForeignKey,
  listOfDump,
  restoreSchema,
  triggersOfPartitions,
} from './schema.ts'
import { readStructure, recordedStructure, recordRows, rowsReplaced } from './structure.ts'
import { keyOf, nameOfTable } from './structure-difference.ts'
import { silenceTriggers } from './triggers.ts'

const pollMilliseconds = 100
/** The number of polls between checks whether an awaited table was altered again. */
const looksPerCheck = 30

interface Work {
  readonly task: DatabaseTask
  readonly source: Session
  readonly target: Session
  /** What could not be done, with the server's messages. */
  readonly failures: string[]
  say(words: string): void
}

/** Must exist before columns are added, which may be of these types or computed by these functions. */
const ahead = /^(?:SCHEMA|EXTENSION|TYPE|SHELL TYPE|DOMAIN|COLLATION|FUNCTION|PROCEDURE|AGGREGATE) /

/** Records what could not be carried over. `say` gets the current step. */
export async function catchUp(task: DatabaseTask, say: (words: string) => void): Promise<void> {
  const wanted = task.catchUpsWanted()
  await using source = await openSource(task)
  await using target = await openTarget(task)
  await using _way = giveWay(task, [subscribers])
  const work: Work = { task, source, target, failures: [], say }
  say('Reading what was altered at the source.')
  if (task.spec.setUpReplication) await setIdentities(task, source)
  const now = { source: await readStructure(source), target: await readStructure(target) }
  const renamed = await renamedTables(task, source, now)
  const renamedThere = renamed.filter(({ isRenamedThere }) => isRenamedThere)
  let plan = await planOf(work, now, renamedThere)
  const tables = await readTables(source)
  await dumpSchema(task, 'now')
  const known = new Set(knownEntries(task))
  const added = listOfDump(task, 'now').filter((line) => !known.has(entryOf(line)))
  const keys = added.filter(isForeignKey)
  const late = await triggersOfPartitions(source)
  // What is sent under a new name needs a table of that name, though nothing is put there yet.
  const expected = new Set(renamed.map((one) => nameOfTable(one.now)))
  const entries = new Set(
    now.source.objects.filter(({ path }) => expected.has(nameOfTable(path))).map(entryOfTable),
  )
  const isAhead = (line: string): boolean => ahead.test(entryOf(line)) || entries.has(entryOf(line))
  task.record.carried = [...new Set([...(task.record.carried ?? []), ...plan.brought])]
  task.save()
  await runEach(work, plan.addLabels)
  await restore(work, added.filter(isAhead))
  await runEach(work, plan.addColumns)

  const sent = tables.filter(({ replicated }) => replicated).map(({ name }) => name)
  // Recorded first: a table that is published but whose copy was not begun would count as complete.
  task.record.resync = [
    ...new Set([
      ...task.record.resync,
      ...plan.reshaped,
      ...(await rowsReplaced(task, source)).keys(),
      ...tables.map(({ name }) => name).filter((name) => expected.has(name)),
      ...(await unpublished(task, source, sent)),
    ]),
  ]
  task.save()
  // An index that comes now may be one by which the target does not find rows (`isReplicated`).
  const unsent = tables.filter(({ replicated }) => !replicated).map(({ name }) => name)
  await publish(task, source, [...task.record.resync, ...unsent], 'DROP')
  await refreshSubscription(task, target, false)
  say('Waiting for the target to take what was written before.')
  if (!(await drained(work, tables))) return
  if (renamed.length > 0) {
    await runEach(work, renamedThere.map(statementsToRename))
    renameInRecord(task, renamed)
    // What was altered of them besides.
    plan = await planOf(work, { ...now, target: await readStructure(target) }, [])
    task.record.resync = [...new Set([...task.record.resync, ...plan.reshaped])]
    task.save()
    await runEach(work, plan.addColumns)
  }
  await runEach(work, plan.drop)
  await empty(work, tables)
  await runEach(work, plan.retype)
  const isLate = (line: string): boolean => late.has(entryNumbers(line))
  const others = added.filter((line) => !isAhead(line) && !isForeignKey(line))
  await restore(work, [...others.filter((line) => !isLate(line)), ...others.filter(isLate)])
  await silenceTriggers(task, target)
  await recordRows(task, source, task.record.resync)
  await publish(task, source, sent, 'ADD')
  task.onBoundary('published-anew')
  await refreshSubscription(task, target, true)
  if (!(await settled(work, tables))) return
  await restore(work, keys)
  await runEach(work, plan.finish)
  dropDump(task, 'now')
  task.record.resync = []
  task.record.caughtUp = Math.max(wanted, 0)
  task.record.notCarried = fewWords(work.failures)
  tellCopied(task)
  task.save()
  task.onBoundary('caught-up')
}

async function planOf(
  { task, source }: Work,
  now: Pick<Structures, 'source' | 'target'>,
  renamed: readonly RenamedTable[],
): Promise<CatchUpPlan> {
  return planCatchUp({
    ...now,
    renamed: new Set(renamed.map(({ before }) => nameOfTable(before))),
    sourceCopied: recordedStructure(task, 'source'),
    targetCopied: recordedStructure(task, 'target'),
    carried: task.record.carried ?? [],
    places: await placesOfColumns(source),
  })
}

/** Tables that were set aside during the copy. */
function tellCopied(task: DatabaseTask): void {
  const { counters, tables } = task.record.observed
  tell(task, {
    tables: tables.map(({ message: _, ...table }) => ({ ...table, state: 'completed' })),
    counters: {
      ...counters,
      fullLoadLoadingTables: 0,
      fullLoadCompletedTables: counters.fullLoadCompletedTables + counters.fullLoadLoadingTables,
    },
  })
}

async function placesOfColumns(source: Session): Promise<ReadonlyMap<string, number>> {
  const rows = await source.rows<{ path: readonly string[]; place: number }>(
    `SELECT ARRAY[n.nspname::text, c.relname::text, a.attname::text] AS path, a.attnum AS place
     FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE a.attnum > 0 AND NOT a.attisdropped`,
  )
  return new Map(rows.map(({ path, place }) => [keyOf({ kind: 'column', path }), place]))
}

/** The names of the target's table-copy workers at the source. */
const subscribers = 'pg\\_%\\_sync\\_%'

/** What the target has from the copy; foreign keys do not count when they were left out. */
function knownEntries(task: DatabaseTask): readonly string[] {
  const lines = listOfDump(task, 'copied')
  return (task.record.caughtUp < 0 ? lines.filter((line) => !isForeignKey(line)) : lines).map(
    entryOf,
  )
}

/** Existing objects are skipped; the comparison of both ends decides whether everything is the same. */
async function restore(work: Work, lines: readonly string[]): Promise<void> {
  try {
    await restoreSchema(work.task, { of: 'now', lines, lenient: true })
  } catch (error) {
    if (isTransient(error)) throw error
    note(work, error)
  }
}

async function runEach(work: Work, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    try {
      await work.target.run(statement)
    } catch (error) {
      if (isTransient(error)) throw error
      note(work, error)
    }
  }
}

const wordsMax = 500
const failuresMax = 20

/** An object that exists, made by hand or by an earlier attempt, is no failure. */
function note(work: Work, error: unknown): void {
  const words = error instanceof Error ? error.message : String(error)
  const said = words.split('\n').filter((line) => line.includes('ERROR: '))
  const news = (said.length === 0 ? [words] : said).filter(
    (line) => !/already exists|already a partition|multiple primary keys/.test(line),
  )
  for (const line of news) {
    if (work.failures.length < failuresMax) work.failures.push(line.slice(0, wordsMax))
  }
}

/** Empties tables that are copied again, although foreign keys refer to them. */
async function empty(work: Work, tables: readonly SourceTable[]): Promise<void> {
  const { task, target } = work
  const rows = await target.rows<{ name: string }>(
    'SELECT t AS name FROM pg_catalog.unnest($1::pg_catalog.text[]) t WHERE pg_catalog.to_regclass(t) IS NOT NULL',
    [tables.map(({ name }) => name).filter((name) => task.record.resync.includes(name))],
  )
  const names = rows.map(({ name }) => name)
  if (names.length === 0) return
  try {
    await target.run(`TRUNCATE ${names.map((name) => `ONLY ${name}`).join(', ')}`)
  } catch (error) {
    if (isTransient(error)) throw error
    for (const name of names) await target.run(`DELETE FROM ONLY ${name}`)
  }
}

/** False when a table was altered again meanwhile, so that the awaited state may never come. */
async function drained(work: Work, tables: readonly SourceTable[]): Promise<boolean> {
  const { task, source } = work
  const mark = parseLsn(await markLog(task, source))
  return until(work, tables, async () => {
    const at = await source.value(
      'SELECT confirmed_flush_lsn::text FROM pg_catalog.pg_replication_slots WHERE slot_name = $1',
      [nameOf(task)],
    )
    return at !== undefined && parseLsn(at) >= mark
  })
}

const failedCopies =
  'SELECT coalesce(sum(sync_error_count), 0) FROM pg_catalog.pg_stat_subscription_stats WHERE subname = $1'

async function settled(work: Work, tables: readonly SourceTable[]): Promise<boolean> {
  const { task, target } = work
  const isCounted = (await majorOf(target)) >= 15
  const failures = async (): Promise<number> =>
    isCounted ? Number(await target.value(failedCopies, [nameOf(task)])) : 0
  const failedBefore = await failures()
  return until(work, tables, async () => {
    const left = await tablesUnderWay(task, target)
    const failed = (await failures()) - failedBefore
    const why = [
      ...(failed > 0 ? [`${failed} attempts failed: the log of its server says why.`] : []),
      ...work.failures,
    ].join(' ')
    work.say(`The target copies ${left} ${left === 1 ? 'table' : 'tables'} anew. ${why}`.trimEnd())
    return left === 0
  })
}

async function until(
  { task, source }: Work,
  tables: readonly SourceTable[],
  isDone: () => Promise<boolean>,
): Promise<boolean> {
  for (let look = 1; ; look++) {
    task.signal.throwIfAborted()
    if (await isDone()) return true
    if (look % looksPerCheck === 0 && (await alteredTables(source, tables)).length > 0) return false
    await sleep(pollMilliseconds)
  }
}
