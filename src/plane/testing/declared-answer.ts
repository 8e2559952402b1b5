/** Finds what an answer holds and its type's declared answer does not: a generated client would not know of it. */

import { isJsonObject } from '#kernel/patch.ts'

type Schema = Readonly<Record<string, unknown>>

const envelope = new Set(['id', 'name', 'type', 'location', 'tags', 'systemData', 'etag'])

/** The paths of undeclared members. Only objects whose members are declared by name are compared. */
export function undeclaredMembers(schema: object, body: Schema): readonly string[] {
  const own = Object.entries(body).filter(([name]) => !envelope.has(name))
  return membersIn([schema as Schema], Object.fromEntries(own), '')
}

function membersIn(schemas: readonly Schema[], value: unknown, at: string): readonly string[] {
  const all = schemas.flatMap(alternativesOf)
  if (Array.isArray(value)) {
    const items = all.flatMap(({ items: one }) => (isJsonObject(one) ? [one] : []))
    return value.flatMap((one) => membersIn(items, one, `${at}[]`))
  }
  if (!isJsonObject(value)) return []
  const declared = all.flatMap(({ properties }) => (isJsonObject(properties) ? [properties] : []))
  const names = declared.flatMap((properties) => Object.keys(properties))
  const isOpen = all.some((one) => one['additionalProperties'] || one['patternProperties'])
  if (names.length === 0 || isOpen) return []
  return Object.entries(value).flatMap(([name, one]) => {
    const place = at === '' ? name : `${at}.${name}`
    const found = declared.flatMap((properties) => {
      const member = properties[name]
      return isJsonObject(member) ? [member] : []
    })
    return found.length === 0 ? [place] : membersIn(found, one, place)
  })
}

/** A schema with its alternatives, each of which may declare a member. */
function alternativesOf(schema: Schema): readonly Schema[] {
  const more = [schema['allOf'], schema['anyOf'], schema['oneOf']].flatMap((one) =>
    Array.isArray(one) ? one.filter(isJsonObject) : [],
  )
  return [schema, ...more.flatMap(alternativesOf)]
}
