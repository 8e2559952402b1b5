/**
 * Objects whose members somebody else named. The engine keeps members that are named by numbers as a list, with holes up to
 * the number, if they are set one by one: 12 KB for `{"1000":0}`. Parsed objects have a table, and so have those made here.
 */

/** The greatest name that the engine takes for the place in a list. A list that once had it is a table for ever. */
const lastPlace = '4294967294'
const [zero, nine] = ['0'.charCodeAt(0), '9'.charCodeAt(0)]

/** As `Object.fromEntries`: a member named `__proto__` is data. */
export function fromMembers<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const made: Record<string, T> = {}
  for (const [name, value] of entries) {
    beforeMember(made, name)
    if (name !== '__proto__') made[name] = value
    else Object.defineProperty(made, name, { ...plain, value })
  }
  return made
}

const plain = { configurable: true, enumerable: true, writable: true }

/** The engine makes no longer list of few members. */
const placesMax = 5000
/** Of each place in a list that no member has, where characters stand for memory. */
export const holeCharacters = 4

/** Where a member of this name is when an object comes from another thread, which sets members one by one; or -1. */
export function placeOf(name: string): number {
  const first = name.charCodeAt(0)
  if (first < zero || first > nine || name.length > 4) return -1
  const place = Number(name)
  return place < placesMax ? place : -1
}

/** The places without a member that lists of the value have when it comes from another thread. */
export function holesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + holesIn(one), 0)
  let holes = 0
  let place = -1
  for (const [name, one] of Object.entries(value)) {
    const next = placeOf(name)
    if (next > place) {
      holes += next - place - 1
      place = next
    }
    holes += holesIn(one)
  }
  return holes
}

function beforeMember(made: object, name: string): void {
  const first = name.charCodeAt(0)
  if (first < zero || first > nine || name.length > lastPlace.length) return
  if (Object.hasOwn(made, lastPlace)) return
  Reflect.set(made, lastPlace, 0)
  Reflect.deleteProperty(made, lastPlace)
}
