/**
 * What it takes to make the target's structure the source's, in SQL: columns, defaults, NOT NULL, checks, functions, and
 * what was dropped. Objects that are new as a whole come from a dump of the source. Pure.
 */

import { alterations, labelsToAdd, type Objects } from './alterations.ts'
import { quoteName } from './connect.ts'
import { keyOf, nameOfTable, type Structure, type StructureObject } from './structure-difference.ts'

export interface Structures {
  /** The current structure. */
  readonly source: Structure
  readonly target: Structure
  /** The structure when the copy was made; undefined if it was not recorded. */
  readonly sourceCopied: Structure | undefined
  readonly targetCopied: Structure | undefined
  /** What earlier catch-ups brought, by `keyOf`. */
  readonly carried: readonly string[]
  /** Names that tables had before, quoted: at the target they keep what belongs to them. */
  readonly renamed: ReadonlySet<string>
  /** The positions of the source's columns in their tables, by `keyOf`. */
  readonly places: ReadonlyMap<string, number>
}

export interface CatchUpPlan {
  /** Tables whose columns differ; their rows are copied again. Quoted. */
  readonly reshaped: readonly string[]
  /** Objects that the target gets, by `keyOf`; without the columns of new tables. */
  readonly brought: readonly string[]
  /** Labels of enums that the target has. */
  readonly addLabels: readonly string[]
  /** Without defaults and NOT NULL, so that pending changes can be applied. Parents first. */
  readonly addColumns: readonly string[]
  /** Objects that the source no longer has and the target has from the copy or an earlier catch-up. */
  readonly drop: readonly string[]
  /** Changes of types, for tables that are empty at that moment. */
  readonly retype: readonly string[]
  /** Run after the rows are there. */
  readonly finish: readonly string[]
}

const mapOf = (structure: Structure | undefined): Objects =>
  new Map((structure?.objects ?? []).map((one) => [keyOf(one), one]))

const dropOrder: readonly string[] = [
  'trigger',
  'rule',
  'policy',
  'constraint',
  'index',
  'view',
  'materialized view',
  'column',
  'table',
  'partitioned table',
  'sequence',
]

export function planCatchUp(structures: Structures): CatchUpPlan {
  const source = mapOf(structures.source)
  const target = mapOf(structures.target)
  const before = mapOf(structures.sourceCopied)
  const ours = mapOf(structures.targetCopied)
  const carried = new Set(structures.carried)
  const isOurs = (one: StructureObject): boolean =>
    ours.has(keyOf(one)) ||
    carried.has(keyOf(one)) ||
    (one.kind === 'column' && carried.has(keyOf({ kind: 'table', path: one.path.slice(0, 2) })))
  const kinds = new Map(
    structures.source.objects
      .filter(({ kind }) => kind === 'table' || kind === 'partitioned table')
      .map(({ kind, path }) => [nameOfTable(path), kind]),
  )
  const isThere = (table: string): boolean =>
    kinds.has(table) &&
    structures.target.objects.some(
      ({ kind, path }) => kinds.get(table) === kind && nameOfTable(path) === table,
    )
  const known = new Set([...kinds.keys()].filter(isThere))
  // They get their columns from their parent.
  const partitions = new Set(
    structures.source.objects
      .filter(({ facts }) => facts['partition bound'] !== undefined)
      .map(({ path }) => nameOfTable(path)),
  )
  const reshaped = new Set<string>()
  const addColumns: { readonly table: string; readonly place: number; readonly sql: string }[] = []
  const retype: string[] = []
  const { first, last: finish } = alterations(structures.source, { before, target, known })
  for (const one of structures.source.objects) {
    const table = nameOfTable(one.path)
    const there = target.get(keyOf(one))
    if (one.kind === 'column' && known.has(table)) {
      const column = quoteName(one.path[2] ?? '')
      const alter = `ALTER TABLE ${table} ALTER COLUMN ${column}`
      const [was, wasThere] = [before.get(keyOf(one)), ours.get(keyOf(one))]
      // An object that neither server has altered is the same, even if it is printed differently.
      const differs = (fact: string): boolean =>
        there?.facts[fact] !== one.facts[fact] &&
        (was?.facts[fact] !== one.facts[fact] || wasThere?.facts[fact] !== there?.facts[fact])
      if (there === undefined) {
        reshaped.add(table)
        if (!partitions.has(table)) {
          const place = structures.places.get(keyOf(one)) ?? 0
          addColumns.push({ table, place, sql: addColumn(table, column, one.facts) })
        }
      } else if (differs('type')) {
        reshaped.add(table)
        retype.push(`${alter} DROP DEFAULT`, `${alter} TYPE ${one.facts['type']} USING NULL`)
        finish.push(...defaultOf(alter, one.facts))
      }
      if (differs('default')) finish.push(...defaultOf(alter, one.facts))
      if (differs('not null') && one.facts['identity'] === undefined) {
        finish.push(`${alter} ${one.facts['not null'] === undefined ? 'DROP' : 'SET'} NOT NULL`)
      }
    } else if (one.kind === 'constraint' && known.has(table)) {
      finish.push(...constraintOf(table, one, there))
    } else if ((one.kind === 'function' || one.kind === 'procedure') && there !== undefined) {
      const definition = one.facts['definition']
      const isAltered = before.get(keyOf(one))?.facts['definition'] !== definition
      if (definition !== undefined && isAltered && there.facts['definition'] !== definition) {
        finish.push(definition)
      }
    }
  }
  for (const one of structures.target.objects) {
    if (one.kind !== 'column' || source.has(keyOf(one)) || !isOurs(one)) continue
    if (known.has(nameOfTable(one.path))) reshaped.add(nameOfTable(one.path))
  }
  return {
    brought: structures.source.objects
      .filter(({ kind }) => dropOrder.includes(kind))
      .filter(({ kind, path }) => kind !== 'column' || known.has(nameOfTable(path)))
      .map(keyOf)
      .filter((key) => !target.has(key)),
    reshaped: [...reshaped].filter((table) => kinds.get(table) === 'table'),
    addLabels: structures.source.objects.flatMap((one) => labelsToAdd(one, target.get(keyOf(one)))),
    addColumns: addColumns
      .toSorted(
        (left, right) =>
          rank(kinds, left.table) - rank(kinds, right.table) || left.place - right.place,
      )
      .map(({ sql }) => sql),
    drop: [
      ...first,
      ...drops(
        structures.target.objects.filter(
          ({ kind, path }) =>
            !structures.renamed.has(nameOfTable(path)) &&
            (kind !== 'column' || !partitions.has(nameOfTable(path))),
        ),
        { source, isOurs, known },
      ),
    ],
    retype,
    finish,
  }
}

/** A column of a partitioned table is also one of its partitions. */
function rank(kinds: ReadonlyMap<string, string>, table: string): number {
  return kinds.get(table) === 'partitioned table' ? 0 : 1
}

type Facts = StructureObject['facts']

function addColumn(table: string, column: string, facts: Facts): string {
  const collation = facts['collation']
  const dot = collation?.indexOf('.') ?? -1
  const generated = /^(?<expression>.*) (?<how>stored|virtual)$/s.exec(facts['generated as'] ?? '')
  return [
    `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${column} ${facts['type']}`,
    ...(collation === undefined
      ? []
      : [`COLLATE ${quoteName(collation.slice(0, dot))}.${quoteName(collation.slice(dot + 1))}`]),
    ...(generated?.groups === undefined
      ? []
      : [`GENERATED ALWAYS AS (${generated.groups['expression']}) ${generated.groups['how']}`]),
  ].join(' ')
}

function defaultOf(alter: string, facts: Facts): readonly string[] {
  if (facts['generated as'] !== undefined || facts['identity'] !== undefined) return []
  const value = facts['default']
  return [value === undefined ? `${alter} DROP DEFAULT` : `${alter} SET DEFAULT ${value}`]
}

/** Checks are part of their table's definition; other constraints are separate entries of a dump. */
function constraintOf(
  table: string,
  one: StructureObject,
  there: StructureObject | undefined,
): readonly string[] {
  const name = quoteName(one.path[2] ?? '')
  const definition = one.facts['definition'] ?? ''
  if (there === undefined) {
    return /^CHECK\b/.test(definition)
      ? [`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`]
      : []
  }
  const isValidated = there.facts['definition'] === `${definition} NOT VALID`
  return isValidated ? [`ALTER TABLE ${table} VALIDATE CONSTRAINT ${name}`] : []
}

function drops(
  target: readonly StructureObject[],
  {
    source,
    isOurs,
    known,
  }: {
    readonly source: Objects
    readonly isOurs: (one: StructureObject) => boolean
    readonly known: ReadonlySet<string>
  },
): readonly string[] {
  return target
    .filter((one) => dropOrder.includes(one.kind) && !source.has(keyOf(one)) && isOurs(one))
    .filter(({ kind, path }) => path.length < 3 || kind === 'index' || known.has(nameOfTable(path)))
    .toSorted((left, right) => dropOrder.indexOf(left.kind) - dropOrder.indexOf(right.kind))
    .map(({ kind, path }) => {
      const last = quoteName(path.at(-1) ?? '')
      const table = nameOfTable(path)
      switch (kind) {
        case 'column':
        case 'constraint':
          return `ALTER TABLE ${table} DROP ${kind.toUpperCase()} IF EXISTS ${last}`
        case 'trigger':
        case 'rule':
        case 'policy':
          return `DROP ${kind.toUpperCase()} IF EXISTS ${last} ON ${table}`
        case 'index':
          return `DROP INDEX IF EXISTS ${quoteName(path[0] ?? '')}.${last}`
        default:
          return `DROP ${kind.replace('partitioned ', '').toUpperCase()} IF EXISTS ${table}`
      }
    })
}
