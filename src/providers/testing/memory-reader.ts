/**
 * Resources in memory behind the plane's `Reader`, with the change feed of a store beside it: what unit tests
 * of providers read from. Holds no rule; the started server is tested elsewhere.
 */

import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { SystemData } from '#kernel/system-data.ts'
import { contractWords } from '#kernel/vendor.ts'
import type { Context, Reader, Resource } from '#plane/declare/resource.ts'

export const sampleSystemData: SystemData = {
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: '00000000-0000-4000-8000-00000000000a',
  createdByType: 'User',
  lastModifiedAt: '2026-01-02T00:00:00.000Z',
  lastModifiedBy: '00000000-0000-4000-8000-00000000000b',
  lastModifiedByType: 'User',
}

export interface MemoryReader extends Reader {
  put(path: string, model: unknown, extra?: Partial<Resource>): Resource
  remove(path: string): void
  /** How many rows were handed out by `list`: what a page cost. */
  readonly rowsRead: number
  readonly feed: {
    position(): number
    since(position: number, limit: number): Promise<{ position: number; keys: readonly string[] }>
  }
}

export function idOf(path: string): ResourceId {
  const id = parseResourceId(path)
  if (id === undefined) throw new Error(`not a resource: ${path}`)
  return id
}

/** The members of a context that say what was asked for, for types whose rows lie where the path says. */
export function askedAt(path: string): { readonly id: ResourceId; readonly requested: ResourceId } {
  const id = idOf(path)
  return { id, requested: id }
}

/** `Vendor.Authorization/roleAssignments` or, for implied types, the chain of words. */
function typeOf(id: ResourceId): string {
  const last = id.segments.at(-1)
  const namespace = last?.namespace?.replace(`${contractWords.namespace}.`, '') ?? 'Resources'
  return `${namespace}/${last?.types.join('/')}`.toLowerCase()
}

export function createMemoryReader(): MemoryReader {
  const rows = new Map<string, Resource>()
  const log: string[] = []
  let rowsRead = 0

  function matching(type: string, under: ResourceId | string): Resource[] {
    const key = (typeof under === 'string' ? under : under.key).toLowerCase()
    const prefix = key === '/' ? '/' : `${key}/`
    return [...rows.values()]
      .filter((row) => row.id.key.startsWith(prefix) || row.id.key === key)
      .filter((row) => typeOf(row.id) === type.toLowerCase())
      .sort((a, b) => (a.id.key < b.id.key ? -1 : 1))
  }

  return {
    put(path, model, extra = {}) {
      const id = idOf(path)
      const row: Resource = {
        id,
        systemData: sampleSystemData,
        state: 'Succeeded',
        model,
        etag: String(log.length),
        generation: 1,
        ...extra,
      }
      rows.set(id.key, row)
      log.push(id.key)
      return row
    },
    remove(path) {
      rows.delete(path.toLowerCase())
      log.push(path.toLowerCase())
    },
    get rowsRead() {
      return rowsRead
    },
    get: (id) => Promise.resolve(rows.get(typeof id === 'string' ? id.toLowerCase() : id.key)),
    list({ type, under, after, limit }) {
      const found = matching(type, under).filter((row) => after === undefined || row.id.key > after)
      const page = found.slice(0, limit)
      rowsRead += page.length
      return Promise.resolve(page)
    },
    async *each({ limit = Number.POSITIVE_INFINITY, ...query }) {
      yield* await this.list({ ...query, limit })
    },
    async page({ type, under, after, limit }) {
      const items = await this.list({
        type,
        under,
        ...(after === undefined ? {} : { after }),
        limit,
      })
      const last = items.at(-1)
      return items.length === limit && last !== undefined ? { items, next: last.id.key } : { items }
    },
    // No type that is tested with it has a unique key.
    byUniqueKey: () => Promise.resolve([]),
    feedPosition: () => Promise.resolve(log.length),
    hasRoom: ({ type, under, limit }) => Promise.resolve(matching(type, under).length < limit),
    count: ({ type, under, limit }) =>
      Promise.resolve(Math.min(limit, matching(type, under).length)),
    feed: {
      position: () => log.length,
      since(position, limit) {
        const keys = log.slice(position, position + limit)
        return Promise.resolve({ position: position + keys.length, keys })
      },
    },
  }
}

/** As rules have it, too: nobody is asked. */
interface SampleContext extends Context {
  may(action: string, scope: ResourceId): boolean
}

/** The context of a request by somebody who may do everything. */
export function sampleContext(reader: Reader, extra: Partial<Context> = {}): SampleContext {
  const context: Context = {
    principal: {
      id: '00000000-0000-4000-8000-00000000000a',
      type: 'User',
      tenantId: '00000000-0000-4000-8000-0000000000ff',
      displayName: 'sample',
      clientId: 'sample',
      groups: [],
    },
    now: Date.parse('2026-01-03T00:00:00Z'),
    words: contractWords,
    correlationId: 'sample',
    reader,
    may: () => true,
    hasRoleBelow: () => Promise.resolve(false),
    ...extra,
  }
  // A test that answers by a promise hands it to no rules.
  return context as SampleContext
}
