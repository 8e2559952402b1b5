/**
 * Says when the heap of this process is nearly full: by what is left in it after a collection, since garbage is no sign. It is a net
 * below all other bounds: whatever fills the heap in a way that none of them counts ends requests, and not the process.
 */

import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import type { HeapWatch } from '#kernel/ports.ts'

/** What a collection leaves, of the heap that the process may have. */
const fullShare = 0.8
/** With garbage: the engine collects when it is half way from what the last collection left to the end. */
const filledShare = (1 + fullShare) / 2
/** The questions that are answered without a look at the heap, which takes microseconds. */
const unlookedMax = 8
/** A heap that a collection leaves full counts as full for so long, unless the next one finds that it is not. */
const fullMilliseconds = 2000
/** One with garbage, until a collection tells. */
const filledMilliseconds = 200

interface Collection extends PerformanceEntry {
  readonly detail?: { readonly kind?: number }
}

/** What the runtime leaves to what lives long: all but this part, and this much at the most. */
const youngShare = 1 / 9
const youngBytesMax = 192 * 2 ** 20

function heapBytes(): number {
  return getHeapSpaceStatistics().reduce(
    (sum, { space_name: name, space_used_size: used }) => sum + (name.startsWith('new') ? 0 : used),
    0,
  )
}

function heapBytesMax(): number {
  const { heap_size_limit: limit } = getHeapStatistics()
  return limit - Math.min(limit * youngShare, youngBytesMax)
}

/** `bytesMax`: by default what may live long in this process. */
export function watchHeap(
  ticks: () => number,
  bytesMax: number = heapBytesMax(),
): HeapWatch & Disposable {
  let until = 0
  let unlooked = 0
  const listeners: (() => void)[] = []
  const observer = new PerformanceObserver((entries) => {
    const collections: readonly Collection[] = entries.getEntries()
    const isWhole = collections.some(
      ({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR,
    )
    if (!isWhole) return
    const isFull = heapBytes() >= bytesMax * fullShare
    until = isFull ? ticks() + fullMilliseconds : 0
    if (isFull) for (const free of listeners) free()
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    isFull() {
      if (ticks() < until) return true
      if (++unlooked < unlookedMax) return false
      unlooked = 0
      // Many connections are read in one turn of the loop, in which no collection is reported.
      const isFilled = heapBytes() >= bytesMax * filledShare
      if (isFilled) until = ticks() + filledMilliseconds
      return isFilled
    },
    onFull: (free) => {
      listeners.push(free)
    },
    [Symbol.dispose]: () => observer.disconnect(),
  }
}
