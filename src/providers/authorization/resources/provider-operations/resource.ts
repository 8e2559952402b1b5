/** The actions of every namespace and its types, for authors of roles. */

import Type from 'typebox'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'
import { type ComputedType, defineComputed } from '#plane/declare/computed.ts'
import type { ActionDescription } from '#plane/describe.ts'

const type = 'Authorization/providerOperations'
const versions = ['2022-04-01']

const text = Type.String()
const operations = Type.Array(
  Type.Object({
    name: text,
    displayName: text,
    description: text,
    origin: text,
    isDataAction: Type.Boolean(),
  }),
)
const answer = Type.Object({
  displayName: text,
  operations,
  resourceTypes: Type.Array(Type.Object({ name: text, displayName: text, operations })),
})

/** `describe` is called once: the table of types never changes after the start. */
export function providerOperations(describe: () => readonly ActionDescription[]): ComputedType {
  let known: ReadonlyMap<string, Namespace> | undefined
  const namespaces = (): ReadonlyMap<string, Namespace> => {
    known ??= namespacesOf(describe())
    return known
  }
  return defineComputed({
    type,
    description: 'The actions of a namespace and of its types, as roles name them.',
    scope: 'tenant',
    query: { list: ['$expand'], get: ['$expand'] },
    apiVersions: versions,
    answer: added(answer),
    openList: true,
    source: {
      async get({ id, words, query }) {
        const found = namespaces().get(nameOf(id).toLowerCase())
        return found && show(words, found, withTypes(query))
      },
      async list({ words, query, cursor, limit }) {
        const all = [...namespaces().values()]
        const from = cursor === undefined ? 0 : Number(cursor)
        const items = all.slice(from, from + limit)
        const next = from + items.length
        return {
          items: items.map((one) => show(words, one, withTypes(query))),
          ...(next < all.length ? { next: String(next) } : {}),
        }
      },
    },
  })
}

interface Namespace {
  readonly name: string
  /** By the type without its namespace: its actions in order of name. */
  readonly types: ReadonlyMap<string, ReadonlyMap<string, ActionDescription>>
}

function namespacesOf(routes: readonly ActionDescription[]): ReadonlyMap<string, Namespace> {
  const found = new Map<
    string,
    { name: string; types: Map<string, Map<string, ActionDescription>> }
  >()
  const inOrder = routes.toSorted((a, b) => (a.action < b.action ? -1 : 1))
  for (const route of inOrder) {
    const slash = route.action.indexOf('/')
    if (slash < 0) continue
    const name = route.action.slice(0, slash)
    const kind = route.type.slice(route.type.indexOf('/') + 1)
    const namespace = found.get(name.toLowerCase()) ?? { name, types: new Map() }
    const actions = namespace.types.get(kind) ?? new Map<string, ActionDescription>()
    const key = `${route.action} ${route.isDataAction}`
    if (!actions.has(key)) actions.set(key, route)
    namespace.types.set(kind, actions)
    found.set(name.toLowerCase(), namespace)
  }
  return found
}

/** Without `$expand=resourceTypes` only the namespaces are listed. */
function withTypes(query: URLSearchParams): boolean {
  return (query.get('$expand') ?? '').toLowerCase().includes('resourcetypes')
}

function show(words: VendorWords, { name, types }: Namespace, whole: boolean): object {
  const id: Pick<ResourceId, 'text'> = { text: `/providers/${qualify(words, type)}/${name}` }
  return {
    id: id.text,
    name,
    type: qualify(words, type),
    displayName: name,
    operations: [],
    resourceTypes: whole
      ? [...types].map(([kind, actions]) => ({
          name: kind,
          displayName: kind,
          operations: [...actions.values()].map(({ action, summary, isDataAction }) => ({
            name: action,
            displayName: summary,
            description: `${summary}.`,
            origin: 'user,system',
            isDataAction,
          })),
        }))
      : [],
  }
}
