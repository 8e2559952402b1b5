/** Takes secure values out of what is shown or recorded: refusals and answers may quote what they were given. */

import { fromMembers } from '#kernel/named-members.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { mask, SecretFinder } from './secret-finder.ts'
import { longLength } from './secret-states.ts'

/**
 * Above this number of secrets, or characters in them, every text and number is masked instead of searching for
 * each secret.
 */
export const secretsMax = 1_000
const secretCharactersMax = 64 * 1024

/** Every text, and every number's text, in a value: what must not be shown of a secure one. */
export function secretsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value === 'number' || typeof value === 'bigint') return [String(value)]
  if (Array.isArray(value)) return value.flatMap(secretsIn)
  return isJsonObject(value) ? Object.values(value).flatMap(secretsIn) : []
}

/**
 * Masks secrets (decision 0142). A long one is masked wherever it stands. A short one equals parts of other words by
 * chance, and would be told by where it is masked: it is masked where it is a word of its own. Of an id only names are
 * masked, and none of `ids`, which everybody who sees the deployment sees.
 */
export class Redaction {
  readonly #isTooMany: boolean
  readonly #texts: ReadonlySet<string>
  readonly #long: SecretFinder
  /** The secrets that may span several parts of an id. */
  readonly #paths: SecretFinder
  readonly #words: SecretFinder
  readonly #ids: Iterable<string>
  #known: ReadonlySet<string> | undefined
  #knownLengthMax = 0

  constructor(secrets: Iterable<string>, ids: Iterable<string> = []) {
    this.#texts = new Set(secrets)
    const all = [...this.#texts]
    const characters = all.reduce((sum, { length }) => sum + length, 0)
    this.#isTooMany = all.length > secretsMax || characters > secretCharactersMax
    const found = this.#isTooMany ? [] : all.filter((one) => one !== '')
    const isPath = (one: string): boolean => one.length > 1 && one.includes('/')
    const names = found.filter((one) => !isPath(one))
    this.#paths = new SecretFinder(found.filter(isPath), false)
    this.#long = new SecretFinder(
      names.filter(({ length }) => length >= longLength),
      false,
    )
    this.#words = new SecretFinder(names, true)
    this.#ids = ids
  }

  /** The shape stays: texts become texts, arrays arrays, objects objects. */
  of<T>(value: T): T {
    return this.#texts.size === 0 ? value : (this.#of(value) as T)
  }

  #of(value: unknown): unknown {
    if (typeof value === 'string') return this.#isTooMany ? mask : this.#text(value)
    if (typeof value === 'number' || typeof value === 'bigint') {
      return this.#isTooMany || this.#texts.has(String(value)) ? mask : value
    }
    if (Array.isArray(value)) return value.map((one) => this.#of(one))
    if (!isJsonObject(value)) return value
    // Too many to search: names stay, or all would become the same.
    return fromMembers(
      Object.entries(value).map(([name, one]) => [this.#text(name), this.#of(one)]),
    )
  }

  #text(text: string): string {
    const left = this.#paths.masked(text)
    let made = ''
    let from = 0
    for (const { 0: id, index } of left.matchAll(idPattern)) {
      made += this.#words.masked(left.slice(from, index)) + this.#id(id, id === left)
      from = index + id.length
    }
    return made + this.#words.masked(left.slice(from))
  }

  /**
   * In a body an id is complete, and a secret that a template puts into a name is known together with that name.
   */
  #id(id: string, isWhole: boolean): string {
    this.#known ??= this.#knownIds()
    let before = ''
    let place: 'start' | 'type' | 'namespace' | 'name' = 'start'
    const shown = id.split('/').map((part) => {
      // No longer one is known.
      if (before.length <= this.#knownLengthMax) {
        before += place === 'start' ? '' : `/${part.toLowerCase()}`
      }
      const isName = place === 'name'
      if (place === 'type') place = part.toLowerCase() === 'providers' ? 'namespace' : 'name'
      else place = 'type'
      if (!isName || this.#known?.has(before)) return part
      if (!isWhole) return this.#words.masked(part)
      return this.#texts.has(part) ? mask : this.#long.masked(part)
    })
    return shown.join('/')
  }

  #knownIds(): ReadonlySet<string> {
    const known = withParents(this.#ids)
    for (const { length } of known) this.#knownLengthMax = Math.max(this.#knownLengthMax, length)
    return known
  }
}

const idPattern = /\/(?:subscriptions|providers)\/[^\s'"<>?#]*/giu

/** In lower case, with the ids that contain them. */
function withParents(ids: Iterable<string>): ReadonlySet<string> {
  const all = new Set<string>()
  for (const id of ids) {
    let at = id.toLowerCase()
    for (; at !== '' && !all.has(at); at = at.slice(0, at.lastIndexOf('/'))) all.add(at)
  }
  return all
}

/** The secrets in the values at these paths, such as `properties.items[0].secret`. */
export function secretsAt(body: unknown, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => secretsIn(valueAt(body, path)))
}

function valueAt(body: unknown, path: string): unknown {
  let at: unknown = body
  for (const name of path.split(/[.[\]]+/)) {
    if (name === '') continue
    if (Array.isArray(at)) at = at[Number(name)]
    else at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}
