/** Changes to a version after its release (decisions 0059 and 0069). */

import Type, { type TSchema } from 'typebox'

/**
 * Marks a property that was added to a released version: bodies may leave it out, and clients that do not know it
 * ignore it in answers. The version's hash leaves it out; it is frozen by a hash of its own.
 */
export function added<T extends TSchema>(schema: T): ReturnType<typeof Type.Optional<T>> {
  return Object.assign(Type.Optional(schema), { 'x-added': true })
}

/** Marks each property as `added`. */
export function addedEach(
  schemas: Readonly<Record<string, TSchema>>,
): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, added(one)]))
}

/**
 * Marks a property that bodies of a released version once had to contain and may now leave out. Answers still contain
 * it.
 */
export function relaxed<T extends TSchema>(schema: T): ReturnType<typeof Type.Optional<T>> {
  return Object.assign(Type.Optional(schema), { 'x-relaxed': true })
}
