/**
 * Makes objects of the same members with each member written out. Members that are stored one by one under names known
 * only at run time make an object slow from the thirteenth on: to copy, to list and to write as JSON.
 */

/** The object of these values, which come in the order of the names. */
type ObjectMaker<T> = (values: readonly T[]) => Record<string, T>

const makers = new Map<string, ObjectMaker<unknown>>()
/** Clients choose names, by the fields they select. */
const makersMax = 1_000

/** A member of an object that is made of another object: of one of its members, or of all of it. */
export interface MappedMember {
  readonly name: string
  /** The member that `make` gets; the object itself without it. */
  readonly from?: string
  readonly make: (value: never) => unknown
}

type Mapper = (source: never) => Record<string, unknown>
type MapperOf = (makes: readonly MappedMember['make'][]) => Mapper

const mappers = new Map<string, MapperOf>()

/** Makes objects of these members out of others. Each read has a place of its own in the code, which the engine can learn. */
export function objectMapper<S extends object>(
  members: readonly MappedMember[],
): (source: S) => Record<string, unknown> {
  const by = JSON.stringify(members.map(({ name, from }) => [name, from]))
  let mapperOf = mappers.get(by)
  if (mapperOf === undefined) {
    const makes = members.map((_, at) => `make${at}`)
    const made = members.map(({ name, from }, at) => {
      const value = from === undefined ? 'source' : `source[${JSON.stringify(from)}]`
      return `${memberOf(name)}: make${at}(${value})`
    })
    const code = `const [${makes.join(', ')}] = makes; return (source) => ({ ${made.join(', ')} })`
    mapperOf = new Function('makes', code) as MapperOf
    if (mappers.size >= makersMax) mappers.clear()
    mappers.set(by, mapperOf)
  }
  // Each `make` takes what its `from` names of the source.
  return mapperOf(members.map(({ make }) => make)) as (source: S) => Record<string, unknown>
}

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
