/** What every node waits for: what it names, what contains it, what its expressions ask, and earlier batches. */
import type { ResourceSection } from './document.ts'
import { ValueEvaluation } from './evaluate-value.ts'
import type { Expansion } from './expansion.ts'
import { isArray } from './fields.ts'
import type { Instance } from './instances.ts'
import type { Json, Need } from './plan.ts'
import type { Known } from './resource-index.ts'
import { childPath, type TemplatePath } from './template-path.ts'

/** By the keys of nodes. `needs` are those of a node's body. */
export function dependenciesOf(
  expansion: Expansion,
  nodes: ReadonlyMap<string, Instance>,
  needs: ReadonlyMap<string, Iterable<Need>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const batches = batchesBefore([...nodes.values()])
  return new Map(
    [...nodes].map(([key, instance]) => {
      const found = new Set<string>()
      const wait = (known: Known): void => {
        if (known.nodeKey !== undefined) found.add(known.nodeKey)
      }
      for (const known of namedBy(expansion, instance)) wait(known)
      const container = containerOf(instance.id, nodes)
      if (container !== undefined) found.add(container)
      for (const need of needs.get(key) ?? []) if (need.node !== undefined) found.add(need.node)
      for (const known of batches.get(key) ?? []) wait(known)
      return [key, found]
    }),
  )
}

/** What stands in `dependsOn`. */
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

/** The nearest node that a resource lies in: it cannot be there before that one. */
function containerOf(id: string, nodes: ReadonlyMap<string, Instance>): string | undefined {
  const lower = id.toLowerCase()
  for (let at = lower.lastIndexOf('/'); at > 0; at = lower.lastIndexOf('/', at - 1)) {
    const key = lower.slice(0, at)
    if (nodes.has(key)) return key
  }
  return undefined
}

/** Of serial loops: for each node those of the batch before its own. */
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
    // A batch whose conditions are all false is not among them, so the one before it is waited for.
    let last: readonly Instance[] = []
    for (const batch of batches.values()) {
      for (const { nodeKey } of batch) if (nodeKey !== undefined) before.set(nodeKey, last)
      last = batch
    }
  }
  return before
}
