/**
 * Finds the dependencies of every node: what it names, what contains it, what its expressions read, and earlier
 * batches.
 */
import type { ResourceSection } from './document.ts'
import { ValueEvaluation } from './evaluate-value.ts'
import type { Expansion } from './expansion.ts'
import { isArray } from './fields.ts'
import { inOrder } from './graph.ts'
import type { Instance } from './instances.ts'
import type { Json, Need } from './plan.ts'
import type { Known } from './resource-index.ts'
import { childPath, type TemplatePath } from './template-path.ts'

/** The number of rounds in which implied dependencies are removed to break cycles. */
const roundsMax = 10

/** By node keys. */
type Waits = ReadonlyMap<string, ReadonlySet<string>>

/**
 * `needs` are those of a node's body. A node also waits for the one that it lies in, and for what it reads by an id in a
 * version of its own. The language asks for neither, so where that would close a circle, it does not.
 */
export function dependenciesOf(
  expansion: Expansion,
  nodes: ReadonlyMap<string, Instance>,
  needs: ReadonlyMap<string, Iterable<Need>>,
): Waits {
  const batches = batchesBefore([...nodes.values()])
  const requested = new Map<string, ReadonlySet<string>>()
  const extra = new Map<string, Set<string>>()
  const lengths = new Set([...nodes.keys()].map(({ length }) => length))
  for (const [key, instance] of nodes) {
    const found = new Set<string>()
    const more = new Set<string>()
    const known = [...namedBy(expansion, instance), ...(batches.get(key) ?? [])]
    for (const { nodeKey } of known) if (nodeKey !== undefined) found.add(nodeKey)
    const container = containerOf(instance.id, nodes, lengths)
    if (container !== undefined) more.add(container)
    for (const { node, apiVersion } of needs.get(key) ?? []) {
      if (node !== undefined) (apiVersion === undefined ? found : more).add(node)
    }
    for (const one of found) more.delete(one)
    // A thousand resources may depend on nothing.
    requested.set(key, found.size === 0 ? nothing : found)
    if (more.size > 0) extra.set(key, more)
  }
  for (let round = 0; round < roundsMax; round += 1) {
    const all = together(requested, extra)
    const edges = inOrder(all).circles.flatMap((circle) =>
      circle.slice(1).map((to, at) => [extra.get(circle[at] ?? ''), to] as const),
    )
    const taken = edges.filter(([from, to]) => from?.delete(to) === true)
    if (taken.length === 0) return all
  }
  return requested
}

const nothing: ReadonlySet<string> = new Set()

function together(requested: Waits, extra: Waits): Waits {
  if (extra.size === 0) return requested
  const all = new Map(requested)
  for (const [key, more] of extra) all.set(key, new Set([...(all.get(key) ?? []), ...more]))
  return all
}

/** The dependencies in `dependsOn`. */
function namedBy(expansion: Expansion, { section, scope }: Instance): readonly Known[] {
  const { dependsOn } = section
  if (dependsOn === undefined) return []
  const { problems, valuesBudget: budget } = expansion
  const run = new ValueEvaluation({ problems, budget, needs: 'none' })
  const value = run.of(dependsOn.value, scope.with({ late: "in 'dependsOn'" }))
  if (run.isFailed || value === null) return []
  if (!isArray(value)) {
    problems.add(dependsOn.path, "'dependsOn' has to be an array")
    return []
  }
  return value.flatMap((name, at) => named(expansion, name, childPath(dependsOn.path, at)))
}

function named(expansion: Expansion, name: Json, path: TemplatePath): readonly Known[] {
  const { problems, resources } = expansion
  if (typeof name !== 'string') {
    problems.add(path, 'expected the name or the id of a resource')
    return []
  }
  const found = resources.find(name)
  if (found?.kind === 'one') return [found.one]
  if (found?.kind === 'loop') return found.all
  if (found?.kind === 'broken') return []
  if (found?.kind === 'several') {
    problems.add(path, `several resources are named '${name}'; give the id`)
  } else if (!expansion.isPartial) {
    problems.add(path, `the resource '${name}' is not defined in the template`)
  }
  return []
}

/** The nearest node that contains the resource, which must exist first. `lengths` are those of the nodes' keys. */
function containerOf(
  id: string,
  nodes: ReadonlyMap<string, Instance>,
  lengths: ReadonlySet<number>,
): string | undefined {
  const lower = id.toLowerCase()
  for (let at = lower.lastIndexOf('/'); at > 0; at = lower.lastIndexOf('/', at - 1)) {
    // A thousand resources have a dozen of such beginnings each, and hardly one of them is a node's.
    if (!lengths.has(at)) continue
    const key = lower.slice(0, at)
    if (nodes.has(key)) return key
  }
  return undefined
}

/** For serial loops: each node's dependencies on the batch before its own. */
function batchesBefore(all: readonly Instance[]): ReadonlyMap<string, readonly Instance[]> {
  const loops = new Map<ResourceSection, Map<number, Instance[]>>()
  for (const instance of all) {
    const { copy } = instance.section
    if (copy?.isSerial !== true) continue
    const batches = loops.get(instance.section) ?? new Map<number, Instance[]>()
    loops.set(instance.section, batches)
    const number = Math.floor((instance.loop?.index ?? 0) / copy.batchSize)
    const batch = batches.get(number) ?? []
    batches.set(number, batch)
    batch.push(instance)
  }
  const before = new Map<string, readonly Instance[]>()
  for (const batches of loops.values()) {
    // A batch whose conditions are all false is missing here, so the one before it is used.
    let last: readonly Instance[] = []
    for (const batch of batches.values()) {
      for (const { nodeKey } of batch) if (nodeKey !== undefined) before.set(nodeKey, last)
      last = batch
    }
  }
  return before
}
