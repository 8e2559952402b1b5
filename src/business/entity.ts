/**
 * The declaration of an entity as data: fields with their types, columns and versions, keys, navigation, bound
 * actions and what may be written. `$metadata`, reading, writing and filters are all read from it; it holds no
 * rule that a field's type cannot say (those stand in `entities/` beside the declarations, and in `write/`).
 */

import { withoutTrailing } from '#kernel/trailing.ts'
import type { Dialect, Table } from '#query/table.ts'

/** The versions of the interface, by their address segment. */
export const versions = ['v2.0', 'v1.0'] as const
export type Version = (typeof versions)[number]

/** A GUID field without a value (contract, "Resources and their fields"). */
export const noGuid = '00000000-0000-0000-0000-000000000000'
/** A date field without a value (business facts 3). */
export const noDate = '0001-01-01'
/** Decimals are stored as integers of this many places, always, so that they compare directly. */
export const decimalPlaces = 5
/** 10^5. A stored decimal divided by it is exactly the value, since no value has more than 15 digits. */
export const decimalUnit = 100_000
/** Decimals with more digits before the point are refused: a JSON number carries 10 + 5 digits. */
export const decimalMax = 9_999_999_999

/**
 * What a field holds, how it stands in its column, and how on the wire. No column is ever null: no value is the
 * zero GUID, the empty text, 0, false, or the first day of the calendar, in the column as on the wire.
 *
 * | kind | column | wire | type in `$metadata` |
 * | --- | --- | --- | --- |
 * | guid | text, lower case, with hyphens | the same | Edm.Guid |
 * | string | text | the same | Edm.String, MaxLength |
 * | integer | bigint | number | Edm.Int32 |
 * | decimal | bigint, times 10^5 | number | Edm.Decimal, Scale variable |
 * | boolean | bigint 0 or 1 | boolean | Edm.Boolean |
 * | date | text `YYYY-MM-DD` | the same | Edm.Date |
 * | moment | bigint, milliseconds since 1970 | `2026-01-31T12:00:00.123Z` | Edm.DateTimeOffset |
 * | enum | text, the plain value (`In Review`) | v2.0 escaped (`In_x0020_Review`), v1.0 plain | v2.0 an EnumType of that name, v1.0 Edm.String |
 * | nothing | none (`column` is empty) | always null | Edm.String |
 * | complex | none of its own | an object, or null when `absent` says so | ComplexType |
 */
export type FieldType =
  | { readonly kind: 'guid' }
  | { readonly kind: 'string'; readonly lengthMax: number }
  | { readonly kind: 'integer' }
  | { readonly kind: 'decimal' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'date' }
  | { readonly kind: 'moment' }
  | { readonly kind: 'nothing' }
  /** `name` of the type. `values` are unescaped, in the order of their numbers, which begin with 0. */
  | {
      readonly kind: 'enum'
      readonly name: string
      readonly values: readonly string[]
      /** The `values` that were added after the type was released. */
      readonly added?: readonly string[]
    }
  | {
      readonly kind: 'complex'
      readonly name: string
      readonly fields: readonly Field[]
      /** The object is null on the wire when this column holds this value. */
      readonly absent?: ColumnIs
    }

/** A column of the entity's own table, or of the table that `join` adds. */
export interface Column {
  readonly column: string
  readonly join?: string
}

/** A condition on one column. A left join without a row gives null, which equals `null` here. */
export interface ColumnIs extends Column {
  readonly value: string | number | null
}

/**
 * Who may write a field. `never`: ignored in a body. `create`: set at creation; a different value later is refused.
 * `always`: set at creation and by PATCH.
 */
export type Writing = 'never' | 'create' | 'always'

export interface Field extends Column {
  /** The JSON name. Two fields of one entity may share a name when their versions differ. */
  readonly name: string
  readonly type: FieldType
  readonly versions: readonly Version[]
  readonly write: Writing
  /** The empty text is null on the wire, as in the objects of v1.0 (contract, v1.0 line object). */
  readonly nullWhenEmpty?: boolean
  /** The text is made of these columns, a text and a whole number, with a hyphen between. They have an index. */
  readonly made?: readonly [text: string, number: string]
  /** Added after its type was released. */
  readonly isAdded?: true
}

/**
 * A table that fields with `join` read from: at most one row per row of the entity. In SQL:
 * `left join <table> as <name> on <name>.<foreign> = <local>`, where `local` is a column of the entity's table or
 * of another join. A missing row reads as the empty value of each field's type.
 */
export interface Join {
  readonly name: string
  readonly table: Table
  readonly on: readonly { readonly foreign: string; readonly local: Column }[]
}

export interface Navigation {
  readonly name: string
  /** The entity set it leads to. */
  readonly target: string
  /**
   * Whether it leads to a list instead of one row (an object, or null). In v1.0 a single row is a list too
   * (business facts 3).
   */
  readonly many: boolean
  /** Rows belong together when these columns are equal. */
  readonly on: { readonly local: string; readonly foreign: string }
  readonly versions: readonly Version[]
  /** Whether a POST of this entity may contain these rows (deep insert). Only with `many`. */
  readonly deepInsert: boolean
  /** Added after its type was released. */
  readonly isAdded?: true
}

/** `POST …/set(key)/{namespace word}.NAV.<name>`, no body, 204. `documents/` holds what it does. */
export interface BoundAction {
  readonly name: string
  readonly versions: readonly Version[]
}

/** Days in the form of date columns, both included; undefined: without a bound. */
export interface Period {
  readonly from: string | undefined
  readonly until: string | undefined
}

export interface View {
  /**
   * A select with every column of the table, in the store's dialect; `now` is the moment it is read at, `period`
   * what the request's filter says of the column `period`.
   */
  select(dialect: Dialect, now: number, period?: Period): string
  /** A date that selects no rows: a filter on it names the days that values are computed of. */
  readonly period?: string
  /** The table whose rows its select adds for each row; with a `period`, only where the filter says one. */
  readonly sums?: string
  /** A condition on the table named `t0`: true for rows with a computed value. When left out, every row has one. */
  readonly works?: string
  readonly columns: ReadonlySet<string>
}

interface ShownFields {
  readonly fields: readonly Field[]
  /** The position in the list of the field with a name. */
  readonly places: ReadonlyMap<string, number>
}

export interface Entity {
  /** Name of the set, as in addresses: `salesInvoiceLines`. Unique. */
  readonly set: string
  /** Name of the type, as in `$metadata`: `salesInvoiceLine`. Unique. */
  readonly type: string
  /**
   * `company`: reached below `companies({id})`, and every row has its company in the column `company_id`.
   * `installation`: reached from the root. Only companies are.
   */
  readonly scope: 'company' | 'installation'
  /** Besides the columns of its fields it has `id`, `revision` and, except for companies, `company_id`. */
  readonly table: Table
  /** Set when some columns are computed when read: their names, and a select that replaces the table. */
  readonly view?: View
  /** Several sets may share a table: the rows of this one have this value there. */
  readonly discriminator?: { readonly column: string; readonly value: string }
  /**
   * The field that is the key; always the field named `id`, whose type differs between the versions where business facts 12
   * say so (a GUID, and text in v1.0 lines). In v1.0 the key of a line may also be given as its GUID.
   */
  readonly key: string
  /** Other fields that identify a row, each a list of field names: `items(number='1000')`. */
  readonly alternateKeys: readonly (readonly string[])[]
  readonly fields: readonly Field[]
  /** The fields of each version, in wire order and by name. */
  readonly shown: Readonly<Record<Version, ShownFields>>
  readonly joins: readonly Join[]
  readonly navigations: readonly Navigation[]
  readonly actions: readonly BoundAction[]
  /** The methods of the set besides GET; others are 405. */
  readonly allows: { readonly create: boolean; readonly change: boolean; readonly delete: boolean }
  readonly versions: readonly Version[]
  /** The default order of a list; the fields are together unique within a company. */
  readonly defaultOrder: readonly string[]
  /** By each of these columns, an index has the rows with one value in the default order. */
  readonly inOrderBy: readonly string[]
  /** A list is refused unless its filter names one value of this field, or a key. */
  readonly listNeeds?: string
}

/**
 * The tag of a row in a version. It is opaque to clients, and differs after a delete because it contains the id.
 */
export function etagOf(id: string, revision: number): string {
  return `W/"${toBase64(`${id};${revision}`)}"`
}

/**
 * The input is hexadecimal digits, hyphens, a semicolon and a number, so the digits that an address would not take do not
 * occur.
 */
function toBase64(text: string): string {
  return withoutTrailing(btoa(text), '=')
}

/** The entities of an installation, by set. Made once, at start. */
export interface Model {
  readonly entities: readonly Entity[]
  find(set: string, version: Version): Entity | undefined
}

export function createModel(entities: readonly Entity[]): Model {
  const bySet = new Map(entities.map((entity) => [entity.set, entity]))
  return {
    entities,
    find(set, version) {
      const entity = bySet.get(set)
      return entity?.versions.includes(version) === true ? entity : undefined
    },
  }
}

/** The fields of an entity in a version, in wire order. */
export function fieldsIn(entity: Entity, version: Version): readonly Field[] {
  return entity.shown[version].fields
}

export function fieldNamed(entity: Entity, version: Version, name: string): Field | undefined {
  const { fields, places } = entity.shown[version]
  const place = places.get(name)
  return place === undefined ? undefined : fields[place]
}

interface FieldOptions {
  readonly column?: string
  readonly join?: string
  readonly versions?: readonly Version[]
  readonly write?: Writing
  readonly nullWhenEmpty?: boolean
  readonly made?: Field['made']
  readonly isAdded?: true
}

/** `unitOfMeasureId` → `unit_of_measure_id`. */
function columnOf(name: string): string {
  return name.replace(/([a-z])(?=\d)|([A-Z])/g, (_, before?: string, upper?: string) =>
    before === undefined ? `_${(upper ?? '').toLowerCase()}` : `${before}_`,
  )
}

function field(name: string, type: FieldType, options: FieldOptions): Field {
  const { column = columnOf(name), join, versions: shown = versions, write = 'always' } = options
  return {
    name,
    type,
    column,
    versions: shown,
    write,
    ...(join === undefined ? {} : { join }),
    ...(options.nullWhenEmpty === undefined ? {} : { nullWhenEmpty: options.nullWhenEmpty }),
    ...(options.made === undefined ? {} : { made: options.made }),
    ...(options.isAdded === undefined ? {} : { isAdded: options.isAdded }),
  }
}

/** Makers of fields. By default the column is the name in snake case, both versions show it, and it is writable. */
export const guid = (name: string, options: FieldOptions = {}): Field =>
  field(name, { kind: 'guid' }, options)
export const text = (name: string, lengthMax: number, options: FieldOptions = {}): Field =>
  field(name, { kind: 'string', lengthMax }, options)
export const integer = (name: string, options: FieldOptions = {}): Field =>
  field(name, { kind: 'integer' }, options)
export const decimal = (name: string, options: FieldOptions = {}): Field =>
  field(name, { kind: 'decimal' }, options)
export const boolean = (name: string, options: FieldOptions = {}): Field =>
  field(name, { kind: 'boolean' }, options)
export const date = (name: string, options: FieldOptions = {}): Field =>
  field(name, { kind: 'date' }, options)
export const moment = (name: string, options: FieldOptions = {}): Field =>
  field(name, { kind: 'moment' }, options)
export const nothing = (name: string, options: FieldOptions = {}): Field =>
  field(name, { kind: 'nothing' }, { column: '', ...options })
export const oneOf = (
  name: string,
  typeName: string,
  values: readonly string[],
  { added, ...options }: FieldOptions & { readonly added?: readonly string[] } = {},
): Field =>
  field(
    name,
    { kind: 'enum', name: typeName, values, ...(added === undefined ? {} : { added }) },
    options,
  )
export const complex = (
  name: string,
  typeName: string,
  fields: readonly Field[],
  options: FieldOptions & { readonly absent?: ColumnIs } = {},
): Field =>
  field(
    name,
    {
      kind: 'complex',
      name: typeName,
      fields,
      ...(options.absent === undefined ? {} : { absent: options.absent }),
    },
    options,
  )

/** A navigation to the one row whose id is in `local`. */
export function toOne(
  name: string,
  target: string,
  local: string,
  shown: readonly Version[] = versions,
): Navigation {
  return {
    name,
    target,
    many: false,
    on: { local, foreign: 'id' },
    versions: shown,
    deepInsert: false,
  }
}

/** A navigation to all rows whose `foreign` is this row's id. */
export function toMany(
  name: string,
  target: string,
  foreign: string,
  options: { readonly deepInsert?: boolean } = {},
): Navigation {
  const { deepInsert = false } = options
  return { name, target, many: true, on: { local: 'id', foreign }, versions, deepInsert }
}

/** A navigation that came after its type was released. */
export function added(navigation: Navigation): Navigation {
  return { ...navigation, isAdded: true }
}

/** The optional parts of a declaration. */
type EntityDeclaration = Pick<
  Entity,
  'set' | 'type' | 'table' | 'fields' | 'allows' | 'defaultOrder'
> &
  Partial<Omit<Entity, 'shown'>>

export function defineEntity(declared: EntityDeclaration): Entity {
  return {
    scope: 'company',
    key: 'id',
    alternateKeys: [],
    joins: [],
    navigations: [],
    actions: [],
    versions,
    inOrderBy: ['company_id'],
    shown: {
      'v2.0': shownIn(declared.fields, 'v2.0'),
      'v1.0': shownIn(declared.fields, 'v1.0'),
    },
    ...declared,
  }
}

function shownIn(all: readonly Field[], version: Version): ShownFields {
  const fields = all.filter((one) => one.versions.includes(version))
  return { fields, places: new Map(fields.map(({ name }, at) => [name, at])) }
}

export const editable: Entity['allows'] = { create: true, change: true, delete: true }
export const readOnly: Entity['allows'] = { create: false, change: false, delete: false }
