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
  let isTable = false
  for (const [name, value] of entries) {
    if (!isTable && beginsWithDigit(name)) {
      Reflect.set(made, lastPlace, 0)
      Reflect.deleteProperty(made, lastPlace)
      isTable = true
    }
    if (name !== '__proto__') made[name] = value
    else Object.defineProperty(made, name, { ...plain, value })
  }
  return made
}

const plain = { configurable: true, enumerable: true, writable: true }

/** The engine makes no longer list of few members, nor one with more holes in a row than this. */
const [placesMax, holesInRowMax] = [5000, 1024]
/** Of each place in a list that no member has, where characters stand for memory. */
export const holeCharacters = 4

/**
 * The last place of the list that an object has when it comes from another thread, which sets members one by one: with a member
 * of this name after one at `place`. Infinite where it has a table.
 */
export function placeAfter(place: number, name: string): number {
  if (!beginsWithDigit(name)) return place
  const next = Number(name)
  if (next <= place || String(next) !== name) return place
  // A list that is too short grows by half.
  const length = place < 0 ? 0 : Math.floor(1.5 * (place + 1)) + 16
  return next - length >= holesInRowMax || next >= placesMax ? Number.POSITIVE_INFINITY : next
}

/** The places without a member that lists of the value have when it comes from another thread. */
export function holesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + holesIn(one), 0)
  let holes = 0
  let place = -1
  for (const [name, one] of Object.entries(value)) {
    const next = placeAfter(place, name)
    holes += holesBetween(place, next)
    place = next
    holes += holesIn(one)
  }
  return holes
}

export function holesBetween(place: number, next: number): number {
  return next > place && next < placesMax ? next - place - 1 : 0
}

function beginsWithDigit(name: string): boolean {
  const first = name.charCodeAt(0)
  return first >= zero && first <= nine
}
