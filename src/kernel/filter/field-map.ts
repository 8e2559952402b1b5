/**
 * The fields that a filter may read: by path, each with its type and a function that reads it. A field map is data
 * and never changes items.
 */

import type { FunctionShape, Value, ValueType } from './functions.ts'

/**
 * A field. `read` returns text, a number or a boolean; for a moment it may return a `Date`. An absent value, or one
 * of another type, counts as null.
 */
export interface Field<T> {
  readonly type: ValueType
  read(item: T): unknown
  /** For strings: compares and searches without regard to case. By default case counts. */
  readonly ignoreCase?: boolean
  /** For numbers: the value never has a fraction, so `div` of two such numbers drops the fraction. */
  readonly integer?: boolean
  /** For enums: all values. A filter that names another one is refused. When left out, any word is allowed. */
  readonly values?: readonly string[]
  /** Set only by `fieldsOfRows`. `read` then gets a row instead of the item. */
  readonly rows?: RowSource<T>
}

/** Returns the rows of an item. Sources are compared by identity. */
export interface RowSource<T> {
  of(item: T): readonly unknown[]
  /**
   * True: conditions joined by `and` must hold for the same row (`tagName eq 'a' and tagValue eq 'b'`). False: each
   * condition may hold for a different row.
   */
  readonly together: boolean
}

/** A collection for `any`, `all` and `$count`, made by `collection`. */
export interface Collection<T> {
  of(item: T): readonly unknown[]
  readonly items: FieldMap<unknown>
}

/** An area's own function, such as `atScope()`. It is not called when an argument is null. */
interface FieldFunction<T> extends FunctionShape {
  call(item: T, values: readonly Value[]): Value
}

export interface FieldMap<T> {
  /** By path: `name`, `invoice/total`. */
  readonly fields: Readonly<Record<string, Field<T>>>
  readonly collections?: Readonly<Record<string, Collection<T>>>
  /** The same names as passed to `withFunctions`. They take precedence over built-in ones. */
  readonly functions?: Readonly<Record<string, FieldFunction<T>>>
  /** The item itself, when it is a plain value: the `t` of `tags/any(t: t eq 'a')`. */
  readonly self?: Field<T>
  /**
   * Accepts field names and enum values in any case, moments and GUIDs also as quoted text, moments also in US
   * form, and compares GUIDs with strings. Used with `lenientProfile`.
   */
  readonly lenient?: boolean
  /** A first segment that may be written or left out before every field: `properties`. */
  readonly optionalPrefix?: string
}

/**
 * Fields that have one value per row of an item: `service` reads every impact of an event. A condition holds when
 * it holds for some row; only `ne` holds when no row is equal.
 */
export function fieldsOfRows<T, R>(
  source: { of(item: T): readonly R[]; readonly together: boolean },
  fields: Readonly<Record<string, Field<R>>>,
): Readonly<Record<string, Field<T>>> {
  return Object.fromEntries(
    Object.entries(fields).map(([path, field]) => [
      path,
      // With `rows` set, `read` only gets what `source.of` returned, which is R.
      { ...field, rows: source } as unknown as Field<T>,
    ]),
  )
}

export function collection<T, R>(of: (item: T) => readonly R[], items: FieldMap<R>): Collection<T> {
  // The fields of the items only get what `of` returned, which is R.
  return { of, items: items as FieldMap<unknown> }
}

/** The entry of that path, found by the map's rules about names. */
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
