/**
 * How the rows of an entity become JSON: the columns that a statement selects, and the text that each field writes.
 * One plan is made per level of a request. It reads no rows.
 */

import { objectMaker } from '#kernel/object-maker.ts'
import type { SqlRow, SqlValue } from '#stores/store.ts'
import { fromStored } from '../amounts/decimals.ts'
import type { Source } from '../compile/expression.ts'
import type { SqlWriter } from '../compile/sql.ts'
import { type Column, type ColumnIs, type Field, noDate, noGuid, type Version } from '../entity.ts'
import { enumName } from './enum-names.ts'

type Write = (row: SqlRow) => unknown

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
    const writes = [...Object.values(first), ...fields.map((field) => this.write(field))]
    const make = objectMaker([...Object.keys(first), ...fields.map(({ name }) => name)])
    return (row) => make(writes.map((write) => write(row)))
  }

  write(field: Field): Write {
    const { type } = field
    if (type.kind === 'nothing') return () => null
    if (type.kind === 'complex') {
      const inner = this.fields(type.fields)
      const absent = type.absent === undefined ? undefined : this.#is(type.absent)
      return (row) => {
        return absent?.(row) === true ? null : inner(row)
      }
    }
    const name = this.column(field)
    const { version } = this.#source
    const { nullWhenEmpty } = field
    return (row) => {
      const value = wireValue(field, version, row[name] ?? null)
      return nullWhenEmpty && value === '' ? null : value
    }
  }

  #is(one: ColumnIs): (row: SqlRow) => boolean {
    const name = this.column(one)
    return (row) => (row[name] ?? null) === one.value
  }
}

/** A cell as JSON. Null, which a join without a row gives, becomes the empty value of the type. */
function wireValue(field: Field, version: Version, cell: SqlValue): unknown {
  switch (field.type.kind) {
    case 'guid':
      return cell ?? noGuid
    case 'date':
      return cell ?? noDate
    case 'string':
      return cell ?? ''
    case 'enum':
      return version === 'v1.0' ? (cell ?? '') : enumName(String(cell ?? ''))
    case 'integer':
      return cell ?? 0
    case 'decimal':
      return fromStored(Number(cell ?? 0))
    case 'boolean':
      return cell === 1
    case 'moment':
      return cell === null || cell === 0
        ? `${noDate}T00:00:00Z`
        : new Date(Number(cell)).toISOString()
    case 'nothing':
    case 'complex':
      return null
  }
}
