/** What came to a released shape after it was released (decisions 0059 and 0069). */

import Type, { type TSchema } from 'typebox'

/**
 * Marks a property that a released shape did not have: one that may be left out of bodies, and that clients which do not
 * know it ignore in answers. The hash of the shape is without it; it is frozen by a hash of its own.
 */
export function added<T extends TSchema>(schema: T): ReturnType<typeof Type.Optional<T>> {
  return Object.assign(Type.Optional(schema), { 'x-added': true })
}

/** Each of them marked as `added`. */
export function addedEach(
  schemas: Readonly<Record<string, TSchema>>,
): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, added(one)]))
}

/** Marks a property that bodies of a released shape had to have, and may leave out now. Answers still have it. */
export function relaxed<T extends TSchema>(schema: T): ReturnType<typeof Type.Optional<T>> {
  return Object.assign(Type.Optional(schema), { 'x-relaxed': true })
}
