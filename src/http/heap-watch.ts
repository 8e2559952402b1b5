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
const filledShare = 0.85
/** The questions that are answered without a look at the heap, which takes microseconds. */
const unlookedMax = 8
/** A heap that is full counts as full for so long, unless a collection finds that it is not. */
const staysMilliseconds = 2000
/** What was given up is collected first. */
const againMilliseconds = 200

interface Collection extends PerformanceEntry {
  readonly detail?: { readonly kind?: number }
}

/** The least part of the heap that the runtime leaves to what lives long. */
const oldShare = 8 / 9

function heapBytes(): number {
  return getHeapSpaceStatistics().reduce(
    (sum, { space_name: name, space_used_size: used }) => sum + (name.startsWith('new') ? 0 : used),
    0,
  )
}

/** `bytesMax`: by default what the process may have. */
export function watchHeap(
  ticks: () => number,
  bytesMax: number = getHeapStatistics().heap_size_limit * oldShare,
): HeapWatch & Disposable {
  let until = 0
  let againAt = 0
  let unlooked = 0
  const listeners: (() => void)[] = []
  const look = (share: number): boolean => {
    if (heapBytes() < bytesMax * share) return false
    const now = ticks()
    until = now + staysMilliseconds
    if (now < againAt) return true
    againAt = now + againMilliseconds
    for (const free of listeners) free()
    return true
  }
  const observer = new PerformanceObserver((entries) => {
    const collections: readonly Collection[] = entries.getEntries()
    const isWhole = collections.some(
      ({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR,
    )
    if (isWhole && !look(fullShare)) until = 0
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    isFull() {
      if (ticks() < until) return true
      if (++unlooked < unlookedMax) return false
      unlooked = 0
      // Many connections are read in one turn of the loop, in which no collection is reported.
      return look(filledShare)
    },
    onFull: (free) => {
      listeners.push(free)
    },
    [Symbol.dispose]: () => observer.disconnect(),
  }
}
