/**
 * Tables that were renamed, or moved to another schema, at the source since they were copied. They are known by the numbers
 * that the dump of the copy has of them, and renamed at the target, with all that belongs to them.
 */

import { quoteName, type Session } from './connect.ts'
import type { DatabaseTask } from './database-task.ts'
import { entryNumbers, entryOf, listOfDump } from './schema.ts'
import { recordedStructure, renameInRecorded } from './structure.ts'
import {
  isOfRelation,
  keyOf,
  nameOfTable,
  type Structure,
  type StructureObject,
} from './structure-difference.ts'

type Path = readonly string[]

export interface RenamedTable {
  readonly before: Path
  readonly now: Path
  /** At the target it is renamed; else it is made there under its name of now. */
  readonly isRenamedThere: boolean
}

const isTable = ({ kind }: StructureObject): boolean =>
  kind === 'table' || kind === 'partitioned table'

/** As the list of a dump has it. */
export function entryOfTable({ path: [schema = '', table = ''], facts }: StructureObject): string {
  return `TABLE ${schema} ${table} ${facts['owner'] ?? ''}`
}

export async function renamedTables(
  task: DatabaseTask,
  session: Session,
  { source, target }: { readonly source: Structure; readonly target: Structure },
): Promise<readonly RenamedTable[]> {
  const oids = new Map(
    listOfDump(task, 'copied').map((line) => [entryOf(line), entryNumbers(line).split(' ')[1]]),
  )
  const copied = new Map<string, Path>()
  for (const one of recordedStructure(task, 'source')?.objects ?? []) {
    const oid = isTable(one) ? oids.get(entryOfTable(one)) : undefined
    if (oid !== undefined) copied.set(oid, one.path)
  }
  const rows = await session.rows<{ oid: string; path: Path }>(
    `SELECT c.oid::text AS oid, ARRAY[n.nspname::text, c.relname::text] AS path FROM pg_catalog.pg_class c
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = ANY ($1::pg_catalog.oid[])`,
    [[...copied.keys()]],
  )
  const here = new Set(source.objects.filter(isTable).map(({ path }) => nameOfTable(path)))
  const there = new Set(target.objects.filter(isTable).map(({ path }) => nameOfTable(path)))
  const carried = new Set(task.record.carried ?? [])
  return rows.flatMap(({ oid, path: now }) => {
    const before = copied.get(oid) ?? now
    const [old, name] = [nameOfTable(before), nameOfTable(now)]
    if (old === name) return []
    // One of that name may be what an earlier attempt has made.
    const isFree = !there.has(name) || carried.has(keyOf({ kind: 'table', path: now }))
    return [{ before, now, isRenamedThere: there.has(old) && !here.has(old) && isFree }]
  })
}

/** Whatever of that name stands there is empty. */
export function statementsToRename({ before, now }: RenamedTable): string {
  const [schema = '', table = ''] = now
  const [oldSchema, oldTable = ''] = before
  const alter = `ALTER TABLE ${nameOfTable(before)} SET SCHEMA ${quoteName(schema)}`
  const rename = `ALTER TABLE ${nameOfTable([schema, oldTable])} RENAME TO ${quoteName(table)}`
  return [
    `DROP TABLE IF EXISTS ${nameOfTable(now)}`,
    ...(oldSchema === schema ? [] : [alter]),
    ...(oldTable === table ? [] : [rename]),
  ].join('; ')
}

/** What is to be put back is known by name, and so is what was copied. */
export function renameInRecord(task: DatabaseTask, renamed: readonly RenamedTable[]): void {
  const { record } = task
  const namesOf = (some: readonly RenamedTable[]) => {
    const names = new Map(some.map(({ before, now }) => [nameOfTable(before), nameOfTable(now)]))
    return <T extends { readonly table: string }>(one: T): T => ({
      ...one,
      table: names.get(one.table) ?? one.table,
    })
  }
  const there = renamed.filter(({ isRenamedThere }) => isRenamedThere)
  record.identities = record.identities.map(namesOf(renamed))
  record.triggers = record.triggers.map(namesOf(there))
  const paths = new Map(there.map(({ before, now }) => [nameOfTable(before), now]))
  renameInRecorded(task, (one) => {
    const now = isOfRelation(one) ? paths.get(nameOfTable(one.path)) : undefined
    return now === undefined ? one : { ...one, path: [...now, ...one.path.slice(2)] }
  })
}
