/**
 * Reads values of a body into the form of their columns: type, length and range. A fault is refused with the name
 * of its property.
 */

import { isJsonObject } from '#kernel/patch.ts'
import { isUuid } from '#kernel/uuid.ts'
import type { SqlValue } from '#stores/store.ts'
import { fits, toStored } from '../amounts/decimals.ts'
import { type Entity, type Field, fieldNamed, noDate, noGuid, type Version } from '../entity.ts'
import { badValue, refuse } from '../errors.ts'

export type Body = Readonly<Record<string, unknown>>

/** The value of one field in a body. */
export interface Given {
  readonly field: Field
  /** In the stored form; for an object, its parts by the names of their fields. */
  readonly value: SqlValue | Parts
}

export type Parts = ReadonlyMap<string, SqlValue>

/** The writable properties of a body, by name, in order of declaration (business facts 6). */
export type GivenFields = ReadonlyMap<string, Given>

const dateForm = /^(\d{4})-(\d{2})-(\d{2})$/
const numberForm = /^-?\d{1,20}(?:\.\d{1,20})?$/
const integerMax = 2_147_483_647

/**
 * Reads a body against an entity. Refuses names the entity does not have in this version; annotations (`@…`) and
 * fields nobody may write are passed over. `nested` are the lists a deep insert brings, left to the caller.
 */
export function readBody(
  entity: Entity,
  version: Version,
  body: Body,
  nested: readonly string[] = [],
): GivenFields {
  const names = Object.keys(body)
  const known = inOrder(entity, version, names)
  if (names.length !== known.length) refuseUnknown(entity, version, names, nested)
  const given = new Map<string, Given>()
  for (const field of known) {
    const { name, write } = field
    if (write !== 'never') given.set(name, { field, value: readField(field, body[name], name) })
  }
  return given
}

/** The fields with these names, in order of declaration; names the entity does not have are left out. */
function inOrder(entity: Entity, version: Version, names: readonly string[]): readonly Field[] {
  const { fields, places } = entity.shown[version]
  const found: number[] = []
  for (const name of names) {
    const place = places.get(name)
    if (place !== undefined) found.push(place)
  }
  if (found.length > 1) found.sort((left, right) => left - right)
  const known: Field[] = []
  for (const place of found) {
    const field = fields[place]
    if (field !== undefined) known.push(field)
  }
  return known
}

/** Throws for a name the entity does not have. */
function refuseUnknown(
  entity: Entity,
  version: Version,
  names: readonly string[],
  nested: readonly string[],
): void {
  for (const name of names) {
    if (name.includes('@') || nested.includes(name)) continue
    if (fieldNamed(entity, version, name) !== undefined) continue
    throw refuse.BadRequest(
      {
        reason: `The property '${printable(name)}' does not exist on the type '${entity.type}' in ${version}.`,
      },
      { target: printable(name) },
    )
  }
}

function readField(field: Field, value: unknown, path: string): SqlValue | Parts {
  if (field.type.kind !== 'complex') return readValue(field, value, path)
  const parts = new Map<string, SqlValue>()
  if (value === null) return parts
  if (!isJsonObject(value)) throw badValue(path, 'an object or null was expected.')
  for (const part of field.type.fields) {
    const inner = value[part.name]
    if (inner === undefined || inner === null || part.type.kind === 'complex') continue
    if (part.type.kind === 'nothing') continue
    parts.set(part.name, readValue(part, inner, `${path}/${part.name}`))
  }
  return parts
}

/** One value in the form of its column. `null` is the empty value of its kind. */
function readValue(field: Field, value: unknown, path: string): SqlValue {
  const { type } = field
  if (value === null) return emptyValue(field)
  switch (type.kind) {
    case 'guid':
      if (typeof value === 'string' && value === '') return noGuid
      if (typeof value !== 'string' || !isUuid(value)) {
        throw refuse.Application_InvalidGUID(
          { property: path, value: shown(value) },
          { target: path },
        )
      }
      return value.toLowerCase()
    case 'string':
      return readText(value, type.lengthMax, path)
    case 'integer':
      if (!Number.isInteger(value) || Math.abs(Number(value)) > integerMax) {
        throw badValue(
          path,
          `a whole number up to ${integerMax} was expected, not ${shown(value)}.`,
        )
      }
      return Number(value)
    case 'decimal':
      return readDecimal(value, path)
    case 'boolean':
      if (typeof value !== 'boolean') {
        throw badValue(path, `true or false was expected, not ${shown(value)}.`)
      }
      return value ? 1 : 0
    case 'date':
      return readDate(value, path)
    case 'moment':
      return readMoment(value, path)
    case 'enum':
      return readEnum(value, type.values, path)
    case 'nothing':
    case 'complex':
      return ''
    default:
      return type satisfies never
  }
}

function readText(value: unknown, lengthMax: number, path: string): string {
  if (typeof value !== 'string') throw badValue(path, `a text was expected, not ${shown(value)}.`)
  if (value.includes('\0')) throw badValue(path, 'a text holds no NUL character.')
  if (!value.isWellFormed()) throw badValue(path, 'a text holds no half of a character.')
  const { length } = [...value]
  if (length > lengthMax) {
    throw refuse.Application_StringExceededLength(
      { property: path, length, lengthMax },
      { target: path },
    )
  }
  return value
}

/** A number, or its digits as text (`IEEE754Compatible=true` of JSON bodies). Rounded to five places. */
function readDecimal(value: unknown, path: string): number {
  const isDigits = typeof value === 'string' && numberForm.test(value)
  if (!isDigits && !(typeof value === 'number' && Number.isFinite(value))) {
    throw badValue(path, `a number was expected, not ${shown(value)}.`)
  }
  const stored = toStored(value)
  if (stored === undefined) throw badValue(path, 'at most ten digits may stand before the point.')
  return stored
}

/** An amount that a column can hold; otherwise refused with the name of its property. */
export function inRange(property: string, amount: number): number {
  if (fits(amount)) return amount
  throw badValue(property, 'the amounts that come of it have more than ten digits.')
}

function readDate(value: unknown, path: string): string {
  const parts = typeof value === 'string' ? dateForm.exec(value) : null
  if (parts === null || !isDay(Number(parts[1]), Number(parts[2]), Number(parts[3]))) {
    throw badValue(path, `a date as YYYY-MM-DD was expected, not ${shown(value)}.`)
  }
  return parts[0]
}

function isDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return day <= (days[month - 1] ?? 0)
}

function readMoment(value: unknown, path: string): number {
  const at =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(at)) {
    throw badValue(path, `a moment such as 2026-01-31T12:00:00Z was expected, not ${shown(value)}.`)
  }
  return at
}

/** Unescaped or escaped, in any version (business facts 4): `In Review` and `In_x0020_Review`. */
function readEnum(value: unknown, values: readonly string[], path: string): string {
  const plain = typeof value === 'string' ? unescapeEnum(value) : undefined
  const found = values.find((one) => one.toLowerCase() === plain?.toLowerCase())
  if (found === undefined) {
    const allowed = values.map((one) => `'${one}'`).join(', ')
    throw refuse.Application_EvaluateException(
      { property: path, value: printable(String(value)), allowed },
      { target: path },
    )
  }
  return found
}

/** `Fixed_x0020_Asset` → `Fixed Asset`. */
function unescapeEnum(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** The default value of a field, in the stored form. */
export function emptyValue(field: Field): SqlValue {
  switch (field.type.kind) {
    case 'guid':
      return noGuid
    case 'date':
      return noDate
    case 'enum':
      return field.type.values[0] ?? ''
    case 'string':
    case 'nothing':
    case 'complex':
      return ''
    case 'integer':
    case 'decimal':
    case 'boolean':
    case 'moment':
      return 0
    default:
      return field.type satisfies never
  }
}

const shownMax = 60

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${printable(value)}'`
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'a list' : 'an object'
  return String(value)
}

/** Text of a caller, made safe to repeat. */
function printable(text: string): string {
  const short = text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
  return short.toWellFormed().replace(/[\p{Cc}\p{Cf}]/gu, '?')
}
