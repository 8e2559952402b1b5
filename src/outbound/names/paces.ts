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
  readonly #domains = new Map<string, Domain>()
  /** Domains by the number of their names; those used or shortened last are behind. */
  readonly #bySize = Array.from({ length: namesOfDomainMax + 2 }, () => new Set<string>())
  #size = 0

  /** A name that is not known is as slow as others below the same name, where none of its domain was ever quick. */
  of(name: string): Pace {
    const key = domainOf(name)
    const { names = new Map<string, Pace>(), hasQuick = false } = this.#domains.get(key) ?? {}
    const known = names.get(name)
    if (known !== undefined || hasQuick) return known ?? 'unknown'
    // One label more than the domain has belongs to one owner, where the domain is a suffix that is not known here.
    const labels = key.split('.').length + 1
    const branchOf = (one: string): string => one.split('.').slice(-labels).join('.')
    const branches = [...names.keys()].map(branchOf)
    const own = branchOf(name)
    const near = branches.filter((branch) => branch === own)
    return Math.max(near.length, new Set(branches).size) >= slowNamesMin ? 'slow' : 'unknown'
  }

  remember(name: string, pace: Pace): void {
    const key = domainOf(name)
    const domain = this.#domains.get(key) ?? { names: new Map<string, Pace>(), hasQuick: false }
    this.#domains.set(key, domain)
    domain.hasQuick ||= pace === 'quick'
    this.#bySize[domain.names.size]?.delete(key)
    if (!domain.names.delete(name)) this.#size++
    domain.names.set(name, pace)
    this.#bySize[domain.names.size]?.add(key)
    if (domain.names.size > namesOfDomainMax || this.#size > namesMax) this.#forgetOne()
  }

  /** Of the domain that has most names the one that was used longest ago. */
  #forgetOne(): void {
    const size = this.#bySize.findLastIndex((keys) => keys.size > 0)
    const [key = ''] = this.#bySize[size] ?? []
    const names = this.#domains.get(key)?.names ?? new Map<string, Pace>()
    const [oldest = ''] = names.keys()
    this.#bySize[size]?.delete(key)
    if (names.delete(oldest)) this.#size--
    if (names.size === 0) this.#domains.delete(key)
    else this.#bySize[names.size]?.add(key)
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
