/**
 * How long names took the last time, and which of them belong to one owner: whoever has a domain has any number of names in it.
 */

/** `slow`: more than a second. */
export type Pace = 'quick' | 'unknown' | 'slow'

/** Names that are remembered, of all domains and of one. */
const namesMax = 10_000
const namesOfDomainMax = 100
/** So many slow names below one, and no quick one in the domain, make others below it slow: one may be an accident. */
const slowNamesMin = 4

interface Domain {
  /** Those used last are behind. */
  readonly names: Map<string, Pace>
  /** One of its names was quick, perhaps one that is forgotten: others may be its neighbours'. */
  hasQuick: boolean
}

export class Paces {
  /** Those used last are behind. */
  readonly #domains = new Map<string, Domain>()
  #size = 0

  /** A name that is not known is as slow as others below the same name, where none of its domain was ever quick. */
  of(name: string): Pace {
    const { names = new Map<string, Pace>(), hasQuick = false } =
      this.#domains.get(domainOf(name)) ?? {}
    const known = names.get(name)
    if (known !== undefined || hasQuick) return known ?? 'unknown'
    const branches = [...names.keys()].map(branchOf)
    const own = branchOf(name)
    const near = branches.filter((branch) => branch === own)
    return Math.max(near.length, new Set(branches).size) >= slowNamesMin ? 'slow' : 'unknown'
  }

  remember(name: string, pace: Pace): void {
    const key = domainOf(name)
    const domain = this.#domains.get(key) ?? { names: new Map<string, Pace>(), hasQuick: false }
    this.#domains.delete(key)
    this.#domains.set(key, domain)
    domain.hasQuick ||= pace === 'quick'
    if (!domain.names.delete(name)) this.#size++
    domain.names.set(name, pace)
    if (domain.names.size > namesOfDomainMax) this.#forgetOldest(key)
    if (this.#size > namesMax) this.#forgetOldest(this.#largest())
  }

  /** The domain with most names; of several the one that was used longest ago. */
  #largest(): string {
    let [found, most] = ['', 0]
    for (const [key, { names }] of this.#domains) {
      if (names.size > most) [found, most] = [key, names.size]
    }
    return found
  }

  #forgetOldest(key: string): void {
    const names = this.#domains.get(key)?.names
    for (const name of names?.keys() ?? []) {
      names?.delete(name)
      this.#size--
      break
    }
    if (names?.size === 0) this.#domains.delete(key)
  }
}

/** Below them names belong to one owner each: `example.co.uk` is nobody's but its owner's, as `example.org` is. */
const shared = /^(?:ac|co|com|edu|go|gob|gov|ltd|me|mil|ne|net|nom|or|org|plc|sch)\.[a-z]{2}$/

/** What belongs to one owner, or to neighbours below a suffix that is not known here. */
export function domainOf(name: string): string {
  const labels = name.split('.')
  const two = labels.slice(-2).join('.')
  return shared.test(two) ? labels.slice(-3).join('.') : two
}

/** One label more than the domain: it belongs to one owner for sure. */
function branchOf(name: string): string {
  const labels = domainOf(name).split('.').length
  return name
    .split('.')
    .slice(-1 - labels)
    .join('.')
}
