/** Takes secure values out of what is shown or recorded: refusals and answers may quote what they were given. */

import { isJsonObject } from '#kernel/patch.ts'

const mask = '*****'
/** Above this many secrets, every text and number is masked instead of looking for each secret. */
export const secretsMax = 1_000

/** Every text, and every number's text, in a value: what must not be seen of a secure one. */
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
  /** The longest first, so that no part of one is left over by another. */
  readonly #long: readonly string[]
  /** Those that may go through several parts of an id. */
  readonly #paths: readonly string[]
  readonly #short: RegExp | undefined
  readonly #ids: Iterable<string>
  #known: ReadonlySet<string> | undefined

  constructor(secrets: Iterable<string>, ids: Iterable<string> = []) {
    this.#texts = new Set(secrets)
    this.#isTooMany = this.#texts.size > secretsMax
    const all = this.#isTooMany ? [] : [...this.#texts].sort((a, b) => b.length - a.length)
    this.#paths = all.filter((one) => one.length > 1 && one.includes('/'))
    const names = all.filter((one) => !this.#paths.includes(one))
    this.#long = names.filter(({ length }) => length >= longLength)
    const short = names.filter(({ length }) => length < longLength)
    this.#short = short.length === 0 ? undefined : new RegExp(short.map(asWord).join('|'), 'gu')
    this.#ids = ids
  }

  /** The shape stays: texts become texts, arrays arrays, objects objects. */
  of<T>(value: T): T {
    return this.#texts.size === 0 ? value : (this.#of(value) as T)
  }

  #of(value: unknown): unknown {
    if (typeof value === 'string') return this.#isTooMany ? mask : this.#text(value)
    if (typeof value === 'number') {
      return this.#isTooMany || this.#texts.has(String(value)) ? mask : value
    }
    if (Array.isArray(value)) return value.map((one) => this.#of(one))
    if (!isJsonObject(value)) return value
    // Too many to look for: names stay, or all would become one.
    const entries = Object.entries(value).map(([name, one]) => [this.#text(name), this.#of(one)])
    return Object.fromEntries(entries)
  }

  #text(text: string): string {
    const left = masked(text, this.#paths)
    let made = ''
    let from = 0
    for (const { 0: id, index } of left.matchAll(idPattern)) {
      made += this.#words(left.slice(from, index)) + this.#id(id, id === left)
      from = index + id.length
    }
    return made + this.#words(left.slice(from))
  }

  #words(text: string): string {
    const left = masked(text, this.#long)
    return this.#short === undefined ? left : left.replace(this.#short, mask)
  }

  /** In a body an id is whole, and a secret that a template puts into a name is known together with that name. */
  #id(id: string, isWhole: boolean): string {
    this.#known ??= withParents(this.#ids)
    let before = ''
    let place: 'start' | 'type' | 'namespace' | 'name' = 'start'
    const shown = id.split('/').map((part) => {
      before += place === 'start' ? '' : `/${part.toLowerCase()}`
      const isName = place === 'name'
      if (place === 'type') place = part.toLowerCase() === 'providers' ? 'namespace' : 'name'
      else place = 'type'
      if (!isName || this.#known?.has(before)) return part
      if (!isWhole) return this.#words(part)
      return this.#texts.has(part) ? mask : masked(part, this.#long)
    })
    return shown.join('/')
  }
}

/** From this length on, a text that equals a secret is no chance. */
const longLength = 8

const idPattern = /\/(?:subscriptions|providers)\/[^\s'"<>?#]*/giu

function masked(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    // Most texts are shorter than most secrets.
    (left, secret) => (secret.length > left.length ? left : left.replaceAll(secret, mask)),
    text,
  )
}

function asWord(text: string): string {
  const before = /^[\p{L}\p{N}]/u.test(text) ? '(?<![\\p{L}\\p{N}])' : ''
  const after = /[\p{L}\p{N}]$/u.test(text) ? '(?![\\p{L}\\p{N}])' : ''
  return `${before}${text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}${after}`
}

/** In lower case, with the ids that they are in. */
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
