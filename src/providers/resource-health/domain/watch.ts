/**
 * Walks through the resources with an observable availability, a page at a time, and records changes. Its position
 * is only in memory: starting over records nothing twice.
 */

import type { Reader } from '#plane/declare/resource.ts'
import type { Observers } from './availability-check.ts'
import type { History } from './history.ts'

interface WatchDependencies {
  readonly reader: Pick<Reader, 'each'>
  readonly observers: Observers
  readonly history: History
}

const pageSize = 200

/** Each call checks the next page and returns whether there are more before it starts over. */
export function createWatch({ reader, observers, history }: WatchDependencies) {
  const types = Object.entries(observers)
  let at = 0
  let after = ''
  return async (now: number): Promise<boolean> => {
    const [type, observe] = types[at] ?? []
    if (type === undefined || observe === undefined) return false
    const query = { type, under: '/', limit: pageSize, ...(after === '' ? {} : { after }) }
    const seen: { readonly key: string; readonly check: ReturnType<typeof observe> }[] = []
    for await (const resource of reader.each(query)) {
      seen.push({ key: resource.id.key, check: observe(resource) })
    }
    const isLast = seen.length < pageSize
    await history.note({ type, seen, after, isLast }, now)
    after = isLast ? '' : (seen.at(-1)?.key ?? '')
    if (isLast) at = (at + 1) % types.length
    return !(isLast && at === 0)
  }
}
