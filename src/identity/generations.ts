/**
 * A bounded map that keeps what is in use: two generations, a hit in the older moves to the younger, and a
 * full younger one becomes the older. A hit in the younger costs one look-up, unlike a strict LRU.
 */

export interface Generations<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
  clear(): void
  /** Entries held: never more than twice the size asked for. */
  readonly size: number
}

export function createGenerations<V>(size: number): Generations<V> {
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
