/**
 * What a filter may ask about: the fields of an item by path, each with its type and how to get it. A field
 * map is data; it reads items and never changes them.
 */

import type { FunctionShape, Value, ValueType } from './functions.ts'

/**
 * One field. `read` gives what the item holds: text, number, boolean; for moments also a `Date`. What is
 * absent or of another type counts as null.
 */
export interface Field<T> {
  readonly type: ValueType
  read(item: T): unknown
  /** Strings: compared and searched without regard to case. Default: case counts. */
  readonly ignoreCase?: boolean
  /** Numbers: never has a fraction, so that `div` between two such drops the fraction. */
  readonly integer?: boolean
  /** Enums: every value there is; a filter that names another is refused. Left out: any word. */
  readonly values?: readonly string[]
  /** Set by `fieldsOfRows` alone: `read` is then given a row, not the item. */
  readonly rows?: RowSource<T>
}

/** Where the rows of an item come from. Compared by identity. */
export interface RowSource<T> {
  of(item: T): readonly unknown[]
  /**
   * True: conditions joined by `and` are about one and the same row (`tagName eq 'a' and tagValue eq 'b'`).
   * False: each condition may be met by a row of its own.
   */
  readonly together: boolean
}

/** A collection for `any`, `all` and `$count`. Made by `collection`. */
export interface Collection<T> {
  of(item: T): readonly unknown[]
  readonly items: FieldMap<unknown>
}

/** A function of the area's own, such as `atScope()`. Not called when an argument is null. */
interface FieldFunction<T> extends FunctionShape {
  call(item: T, values: readonly Value[]): Value
}

export interface FieldMap<T> {
  /** By path: `name`, `invoice/total`. */
  readonly fields: Readonly<Record<string, Field<T>>>
  readonly collections?: Readonly<Record<string, Collection<T>>>
  /** The same names as given to `withFunctions`; they stand before built-in ones. */
  readonly functions?: Readonly<Record<string, FieldFunction<T>>>
  /** The item itself, where it is a plain value: the `t` of `tags/any(t: t eq 'a')`. */
  readonly self?: Field<T>
  /**
   * Field names and enum values in any case; moments and GUIDs also as quoted text, moments also in US form;
   * GUIDs compared with strings. Goes with `lenientProfile`.
   */
  readonly lenient?: boolean
  /** A first segment that may be written or left out before every field: `properties`. */
  readonly optionalPrefix?: string
}

/**
 * Fields that have one value per row of an item: `service` looks into every impact of an event. A condition
 * holds when it holds for some row; `ne` alone, when no row is equal.
 */
export function fieldsOfRows<T, R>(
  source: { of(item: T): readonly R[]; readonly together: boolean },
  fields: Readonly<Record<string, Field<R>>>,
): Readonly<Record<string, Field<T>>> {
  return Object.fromEntries(
    Object.entries(fields).map(([path, field]) => [
      path,
      // With `rows` set, `read` is only ever given what `source.of` returned, which is R.
      { ...field, rows: source } as unknown as Field<T>,
    ]),
  )
}

export function collection<T, R>(of: (item: T) => readonly R[], items: FieldMap<R>): Collection<T> {
  // The items' fields are only ever given what `of` returned, which is R.
  return { of, items: items as FieldMap<unknown> }
}

/** The entry of that path, the map's lenience about names applied. */
export function findByPath<E>(
  entries: Readonly<Record<string, E>>,
  segments: readonly string[],
  map: Pick<FieldMap<unknown>, 'lenient' | 'optionalPrefix'>,
): E | undefined {
  const wanted = segments.join('/')
  const prefix = map.optionalPrefix === undefined ? undefined : `${map.optionalPrefix}/`
  const same = (left: string, right: string): boolean =>
    map.lenient ? left.toLowerCase() === right.toLowerCase() : left === right
  const find = (path: string): E | undefined => {
    if (Object.hasOwn(entries, path)) return entries[path]
    const key = map.lenient ? Object.keys(entries).find((one) => same(one, path)) : undefined
    return key === undefined ? undefined : entries[key]
  }
  const exact = find(wanted)
  if (exact !== undefined || prefix === undefined) return exact
  return same(wanted.slice(0, prefix.length), prefix)
    ? find(wanted.slice(prefix.length))
    : find(prefix + wanted)
}
