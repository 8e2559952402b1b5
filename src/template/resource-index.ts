/** Finds the resources of a template by the names that expressions and `dependsOn` use. */

/** A resource of the template, deployed or not. */
export interface Known {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly apiVersion: string
  /** Absent when its condition is false: the resource may exist, but nothing waits for it. */
  readonly nodeKey?: string
  /** Read as null where it is not there. */
  readonly orNull?: true
}

type Found =
  | { readonly kind: 'one'; readonly one: Known }
  /** All resources of a loop, in order. */
  | { readonly kind: 'loop'; readonly all: readonly Known[] }
  | { readonly kind: 'several' }
  /** It has a problem of its own, which was reported. */
  | { readonly kind: 'broken' }

interface Naming {
  readonly known: Known
  readonly symbolicName?: string
  readonly loop?: { readonly name: string; readonly index: number }
  readonly otherIds?: readonly string[]
}

interface Names {
  /** By symbolic names, loops and ids, which are unique. */
  readonly exact: ReadonlyMap<string, Found>
  /** By names, which several resources may have; the fuller ones are tried first. */
  readonly full: ReadonlyMap<string, Found>
  readonly last: ReadonlyMap<string, Found>
}

export class ResourceIndex {
  readonly #resources: () => readonly Naming[]
  readonly #loopNames: readonly string[]
  readonly #broken: readonly string[]
  /** Made when the first name is looked up: in many templates none is. */
  #names: Names | undefined

  /** `loopNames` includes loops that run zero times. `broken`: names of resources that could not be made. */
  constructor(
    resources: () => readonly Naming[],
    loopNames: readonly string[],
    broken: readonly string[] = [],
  ) {
    this.#resources = resources
    this.#loopNames = loopNames
    this.#broken = broken
  }

  #made(): Names {
    const [loopNames, broken] = [this.#loopNames, this.#broken]
    const exact = new Map<string, Found>()
    const full = new Map<string, Found>()
    const last = new Map<string, Found>()
    const loops = new Map<string, Known[]>(loopNames.map((name) => [name.toLowerCase(), []]))
    for (const { known, symbolicName, loop, otherIds = [] } of this.#resources()) {
      const one = { kind: 'one', one: known } as const
      for (const id of [known.id, ...otherIds]) add(exact, id, one)
      for (const name of fullNames(known)) add(full, name, one)
      add(last, known.name.slice(known.name.lastIndexOf('/') + 1), one)
      for (const name of new Set([symbolicName, loop?.name].map((text) => text?.toLowerCase()))) {
        if (name === undefined) continue
        if (loop === undefined) exact.set(name, one)
        else {
          exact.set(`${name}[${loop.index}]`, one)
          const all = loops.get(name) ?? []
          all.push(known)
          loops.set(name, all)
        }
      }
    }
    for (const name of broken) {
      const lower = name.toLowerCase()
      if (!exact.has(lower)) full.set(lower, { kind: 'broken' })
    }
    for (const [name, all] of loops) exact.set(name, { kind: 'loop', all })
    return { exact, full, last }
  }

  /** Names and ids are compared without regard to case. */
  find(target: string): Found | undefined {
    const lower = target.toLowerCase().replace(/(?<=.)\/$/, '')
    this.#names ??= this.#made()
    const { exact, full, last } = this.#names
    return exact.get(lower) ?? full.get(lower) ?? last.get(lower)
  }
}

/** `name`, `Namespace/type/name`, and with names of parents between the types or after them. */
function fullNames({ id, name, type }: Known): ReadonlySet<string> {
  const tail = id.slice(id.toLowerCase().lastIndexOf('/providers/') + '/providers/'.length)
  return new Set([name, `${type}/${name}`, tail])
}

/** A resource may be declared several times with different conditions; the one that is deployed is meant. */
function add(
  names: Map<string, Found>,
  name: string,
  found: Extract<Found, { kind: 'one' }>,
): void {
  const lower = name.toLowerCase()
  const before = names.get(lower)
  if (before === undefined) names.set(lower, found)
  else if (before.kind !== 'one') return
  else if (before.one.id.toLowerCase() !== found.one.id.toLowerCase()) {
    names.set(lower, { kind: 'several' })
  } else if (before.one.nodeKey === undefined) names.set(lower, found)
}
