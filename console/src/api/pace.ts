/** How soon something that leaves no record is fetched again: the less often, the longer it stays the same. */

/** A query of the cache, as far as it counts here. */
export interface Fetched {
  readonly state: { readonly data: unknown; readonly dataUpdateCount: number }
}

/** The longest pause between two fetches of what does not change, in milliseconds. */
const slowest = 8_000
/** Equal answers after which pauses become longer. */
const patience = 2
/** The newest data of a query, and the number of the fetch that brought it. */
const lastChanges = new WeakMap<Fetched, { readonly data: unknown; readonly fetch: number }>()

/** Milliseconds until the next fetch: `every` while answers differ, twice as long after each further equal one. */
export function paceOf(query: Fetched, every: number): number {
  const { data, dataUpdateCount: fetch } = query.state
  // An equal answer keeps the object that was there.
  if (lastChanges.get(query)?.data !== data) lastChanges.set(query, { data, fetch })
  const equal = fetch - (lastChanges.get(query)?.fetch ?? fetch)
  return Math.min(every * 2 ** Math.max(0, equal - patience), Math.max(every, slowest))
}
