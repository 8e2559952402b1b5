/** What makes an object of the target like the source's where both have it: statements for the facts that differ. Pure. */

import { quoteName } from './connect.ts'
import { nameOfTable, type StructureObject } from './structure-difference.ts'

type Facts = StructureObject['facts']
type Pair = readonly [here: StructureObject, there: StructureObject]

/** `isAltered` says that a fact differs, and not only because the versions print it in their own ways. */
export function alterationsOf(
  [here, there]: Pair,
  isAltered: (fact: string) => boolean,
): readonly string[] {
  switch (here.kind) {
    case 'view':
      return isAltered('definition') ? [viewOf(here)] : []
    case 'sequence':
      return sequenceFacts.some(isAltered) ? [sequenceOf(here)] : []
    case 'column':
      return columnOf(here, isAltered)
    case 'constraint':
    case 'index':
      return isAltered('clustered') ? [clusterOf(here)] : []
    case 'table':
      return isDetached(here.facts, there.facts)
        ? [`ALTER TABLE ${there.facts['parents']} DETACH PARTITION ${nameOfTable(here.path)}`]
        : []
    default:
      return []
  }
}

function isDetached(here: Facts, there: Facts): boolean {
  return here['partition bound'] === undefined && there['partition bound'] !== undefined
}

function viewOf({ path, facts }: StructureObject): string {
  const options = facts['options'] === undefined ? '' : ` WITH (${facts['options']})`
  return `CREATE OR REPLACE VIEW ${nameOfTable(path)}${options} AS ${facts['definition']}`
}

const sequenceFacts = ['type', 'start', 'increment', 'minimum', 'maximum', 'cache', 'cycle']

function sequenceOf({ path, facts }: StructureObject): string {
  return `ALTER SEQUENCE ${nameOfTable(path)} AS ${facts['type']} INCREMENT BY ${facts['increment']}
    MINVALUE ${facts['minimum']} MAXVALUE ${facts['maximum']} START WITH ${facts['start']}
    CACHE ${facts['cache']} ${facts['cycle'] === undefined ? 'NO CYCLE' : 'CYCLE'}`
}

function columnOf(
  { path, facts }: StructureObject,
  isAltered: (fact: string) => boolean,
): readonly string[] {
  const alter = `ALTER TABLE ${nameOfTable(path)} ALTER COLUMN ${quoteName(path[2] ?? '')} SET`
  const storage = facts['storage']
  return [
    // That of the type has a name in newer versions alone.
    ...(isAltered('storage') && storage !== undefined ? [`${alter} STORAGE ${storage}`] : []),
    ...(isAltered('statistics target')
      ? [`${alter} STATISTICS ${facts['statistics target'] ?? '-1'}`]
      : []),
  ]
}

function clusterOf({ path, facts }: StructureObject): string {
  const table = nameOfTable(path)
  return facts['clustered'] === undefined
    ? `ALTER TABLE ${table} SET WITHOUT CLUSTER`
    : `ALTER TABLE ${table} CLUSTER ON ${quoteName(path[2] ?? '')}`
}
