/** What makes an object of the target like the source's where both have it: statements for the facts that differ. Pure. */

import { quoteName } from './connect.ts'
import { keyOf, nameOfTable, type Structure, type StructureObject } from './structure-difference.ts'

type Facts = StructureObject['facts']
export type Objects = ReadonlyMap<string, StructureObject>

/** What comes first makes room for new partitions; the rest needs columns and rows. */
export function alterations(
  source: Structure,
  at: { readonly before: Objects; readonly target: Objects; readonly known: ReadonlySet<string> },
): { readonly first: readonly string[]; readonly last: string[] } {
  const domains = new Set(
    source.objects.filter(({ kind }) => kind === 'domain').map(({ path }) => nameOfTable(path)),
  )
  const [first, last]: [string[], string[]] = [[], []]
  for (const one of source.objects) {
    const [there, was] = [at.target.get(keyOf(one)), at.before.get(keyOf(one))]
    const table = nameOfTable(one.path)
    if (there === undefined && one.kind === 'constraint' && domains.has(table)) {
      const name = quoteName(one.path[2] ?? '')
      last.push(`ALTER DOMAIN ${table} ADD CONSTRAINT ${name} ${one.facts['definition']}`)
    }
    if (there === undefined || (one.path.length > 2 && !at.known.has(table))) continue
    // Not only printed by each version in its own way.
    const isAltered = (fact: string): boolean =>
      there.facts[fact] !== one.facts[fact] && was?.facts[fact] !== one.facts[fact]
    ;(one.kind === 'table' ? first : last).push(...alterationsOf([one, there], isAltered))
  }
  return { first, last }
}

function alterationsOf(
  [here, there]: readonly [StructureObject, StructureObject],
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

/** None where the target has a label that the source lacks, which may have been renamed. */
export function labelsToAdd(
  one: StructureObject,
  there: StructureObject | undefined,
): readonly string[] {
  const labelsOf = ({ facts }: StructureObject): readonly string[] =>
    (facts['labels'] ?? '').match(/E?'(?:[^']|'')*'/g) ?? []
  if (there === undefined || one.facts['labels'] === there.facts['labels']) return []
  const [here, known] = [labelsOf(one), labelsOf(there)]
  if (known.some((label) => !here.includes(label))) return []
  const type = nameOfTable(one.path)
  return here.flatMap((label, at) => {
    if (known.includes(label)) return []
    const place = at === 0 ? `BEFORE ${known[0] ?? label}` : `AFTER ${here[at - 1]}`
    return [
      `ALTER TYPE ${type} ADD VALUE IF NOT EXISTS ${label} ${known.length === 0 ? '' : place}`,
    ]
  })
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
