/**
 * A bounded cache of what was used last. It approximates least-recently-used with two maps. A hit in the older map
 * moves to the younger one, and a full younger map becomes the older one. A hit in the younger map costs one
 * look-up, which an exact LRU cache cannot do.
 */

interface LruCache<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
  clear(): void
  /** The number of entries: never more than twice the requested size. */
  readonly size: number
}

export function createLruCache<V>(size: number): LruCache<V> {
  let young = new Map<string, V>()
  let old = new Map<string, V>()

  function set(key: string, value: V): void {
    if (young.size >= size && !young.has(key)) {
      old = young
      young = new Map()
    }
    old.delete(key)
    young.set(key, value)
  }

  return {
    get(key) {
      const hit = young.get(key)
      if (hit !== undefined) return hit
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
    clear() {
      young.clear()
      old.clear()
    },
    get size() {
      return young.size + old.size
    },
  }
}
