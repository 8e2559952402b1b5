/**
 * Makes objects of the same members with each member written out. Members that are stored one by one under names known
 * only at run time make an object slow from the thirteenth on: to copy, to list and to write as JSON.
 */

/** The object of these values, which come in the order of the names. */
type ObjectMaker<T> = (values: readonly T[]) => Record<string, T>

const makers = new Map<string, ObjectMaker<unknown>>()
/** Clients choose names, by the fields they select. */
const makersMax = 1_000

/** The maker of objects with these members. Of two members of one name the later one counts. */
export function objectMaker<T>(names: readonly string[]): ObjectMaker<T> {
  const by = JSON.stringify(names)
  const known = makers.get(by)
  // It returns what it is given.
  if (known !== undefined) return known as ObjectMaker<T>
  const members = names.map((name, at) => `${memberOf(name)}: values[${at}]`)
  const made = new Function('values', `return { ${members.join(', ')} }`) as ObjectMaker<T>
  if (makers.size >= makersMax) makers.clear()
  makers.set(by, made as ObjectMaker<unknown>)
  return made
}

/** As code: this one member would be the prototype. */
function memberOf(name: string): string {
  return name === '__proto__' ? `['__proto__']` : JSON.stringify(name)
}
