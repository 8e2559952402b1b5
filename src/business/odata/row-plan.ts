/**
 * How the rows of an entity become JSON: the columns that a statement selects, and the text that each field writes.
 * One plan is made per level of a request. It reads no rows.
 */

import { type MappedMember, objectMapper } from '#kernel/object-maker.ts'
import type { SqlRow, SqlValue } from '#stores/store.ts'
import { fromStored } from '../amounts/decimals.ts'
import type { Source } from '../compile/expression.ts'
import type { SqlWriter } from '../compile/sql.ts'
import { type Column, type ColumnIs, type Field, noDate, noGuid, type Version } from '../entity.ts'
import { enumName } from './enum-names.ts'

type Write = (row: SqlRow) => unknown
type Cell = SqlValue | undefined

/** The columns, by their names in the rows of the statement. */
export class RowPlan {
  readonly #names = new Map<string, string>()
  readonly #columns: string[] = []
  #hasJoins = false
  readonly #writer: SqlWriter
  readonly #source: Source

  constructor(writer: SqlWriter, source: Source) {
    this.#writer = writer
    this.#source = source
  }

  /** `t0.id as id, …`: all columns added so far. */
  get columns(): string {
    return this.#columns.join(', ')
  }

  /** The name of the column in the rows of the statement. */
  column(place: Column): string {
    const text = this.#writer.column(this.#source, place)
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const isOwn = place.join === undefined
    const name = isOwn ? place.column : `c${this.#columns.length}`
    this.#names.set(text, name)
    this.#columns.push(`${text} as ${name}`)
    this.#hasJoins ||= !isOwn
    return name
  }

  /** True if every column added so far belongs to the entity and has its own name in the rows. */
  get isPlain(): boolean {
    return !this.#hasJoins
  }

  /** Makes an object of the fields of a row, after its `first` members. */
  fields(
    fields: readonly Field[],
    first: Readonly<Record<string, Write>> = {},
  ): (row: SqlRow) => Record<string, unknown> {
    return objectMapper<SqlRow>([
      ...Object.entries(first).map(([name, make]) => ({ name, make })),
      ...fields.map((field) => this.#member(field)),
    ])
  }

  #member(field: Field): MappedMember {
    const { name, type } = field
    if (type.kind === 'nothing') return { name, make: () => null }
    if (type.kind === 'complex') {
      const inner = this.fields(type.fields)
      if (type.absent === undefined) return { name, make: inner }
      const absent = this.#is(type.absent)
      return { name, make: (row: SqlRow) => (absent(row) ? null : inner(row)) }
    }
    const from = this.column(field)
    const make = wireValue(type.kind, this.#source.version)
    if (field.nullWhenEmpty !== true) return { name, from, make }
    const orNull = (cell: Cell) => {
      const value = make(cell)
      return value === '' ? null : value
    }
    return { name, from, make: orNull }
  }

  #is(one: ColumnIs): (row: SqlRow) => boolean {
    const name = this.column(one)
    return (row) => (row[name] ?? null) === one.value
  }
}

type CellKind = Exclude<Field['type']['kind'], 'nothing' | 'complex'>

/** Cells as JSON. Null, which a join without a row gives, becomes the empty value of the type. */
const wireValues: Readonly<Record<CellKind, (cell: Cell) => unknown>> = {
  guid: (cell) => cell ?? noGuid,
  date: (cell) => cell ?? noDate,
  string: (cell) => cell ?? '',
  enum: (cell) => enumName(String(cell ?? '')),
  integer: (cell) => cell ?? 0,
  decimal: (cell) => fromStored(Number(cell ?? 0)),
  boolean: (cell) => cell === 1,
  moment: (cell) => (cell ? new Date(Number(cell)).toISOString() : `${noDate}T00:00:00Z`),
}

function wireValue(kind: CellKind, version: Version): (cell: Cell) => unknown {
  return wireValues[kind === 'enum' && version === 'v1.0' ? 'string' : kind]
}
