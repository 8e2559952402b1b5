/** Orders nodes so that each comes after its dependencies. It knows only keys. */

interface Ordered {
  /** Nodes in cycles come in no particular order. */
  readonly keys: readonly string[]
  /** Each cycle as the keys along it, the first one repeated at the end. */
  readonly circles: readonly (readonly string[])[]
}

/** Where the graph leaves it open, keys keep the given order. */
export function inOrder(dependencies: ReadonlyMap<string, ReadonlySet<string>>): Ordered {
  const keys: string[] = []
  const circles: string[][] = []
  const state = new Map<string, 'open' | 'done'>()
  for (const root of dependencies.keys()) {
    if (state.has(root)) continue
    if (dependencies.get(root)?.size === 0) {
      state.set(root, 'done')
      keys.push(root)
      continue
    }
    // A chain can be as long as the list of resources, so the path is a list instead of recursion.
    const way = [{ key: root, rest: restOf(dependencies, root) }]
    state.set(root, 'open')
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const next = top.rest.next()
      if (next.done === true) {
        state.set(top.key, 'done')
        keys.push(top.key)
        way.pop()
        continue
      }
      const seen = state.get(next.value)
      if (seen === undefined) {
        state.set(next.value, 'open')
        way.push({ key: next.value, rest: restOf(dependencies, next.value) })
      } else if (seen === 'open') {
        const from = way.findIndex((one) => one.key === next.value)
        circles.push([...way.slice(from).map((one) => one.key), next.value])
      }
    }
  }
  return { keys, circles }
}

function restOf(
  dependencies: ReadonlyMap<string, ReadonlySet<string>>,
  key: string,
): Iterator<string> {
  return (dependencies.get(key) ?? new Set<string>()).values()
}
