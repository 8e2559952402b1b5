/**
 * The installed namespaces with their types and versions, at the root and in a subscription. Registration is
 * a formality here: every namespace is registered in every subscription from the start.
 */

import { refuse } from '#kernel/error.ts'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import { type Action, defineResource, type ResourceType } from '#plane/define.ts'
import type { RouteDescription } from '#plane/plane.ts'
import type { JsonObject } from '#template/plan.ts'
import type { Location } from '../locations/locations.ts'
import { pageOfArray } from '../page-of-array.ts'
import { managerVersions } from '../versions.ts'

export interface ProviderListParts {
  /** The whole table of routes; asked when a list is, since it is complete only after the start. */
  describe(): readonly RouteDescription[]
  readonly locations: readonly Location[]
}

interface ShownType {
  readonly resourceType: string
  readonly locations: readonly string[]
  readonly apiVersions: readonly string[]
  readonly defaultApiVersion?: string
  readonly capabilities: string
}

export function providerLists({ describe, locations }: ProviderListParts): readonly ResourceType[] {
  // The table never changes after the start, and walking it all for every request would cost.
  let routes: readonly RouteDescription[] | undefined
  const parts: ProviderListParts = {
    describe: () => {
      routes ??= describe()
      return routes
    },
    locations,
  }
  return [
    list('Resources/providers', parts, {}),
    list('Resources/subscriptions/providers', parts, {
      register: registration(
        'Registers a namespace in a subscription; it is registered already.',
        parts,
      ),
      unregister: registration(
        'Answers as if unregistering; a namespace always stays registered.',
        parts,
      ),
    }),
  ]
}

function list(
  type: string,
  parts: ProviderListParts,
  actions: Readonly<Record<string, Action<unknown>>>,
): ResourceType {
  return defineResource({
    type,
    description: 'The installed namespaces, their types and versions.',
    scope: 'implied',
    tracked: false,
    name: { pattern: /^[A-Za-z][A-Za-z0-9.]{0,127}$/, rule: 'the name of a namespace' },
    versions: [],
    apiVersions: managerVersions,
    verbs: ['get', 'list'],
    source: {
      get: ({ id }) => Promise.resolve(find(id, parts)),
      list(context) {
        const { items, ...rest } = pageOfArray(namespacesOf(parts), context)
        return Promise.resolve({
          items: items.map((one) => show(context.parent, one, parts)),
          ...rest,
        })
      },
    },
    actions,
  })
}

function registration(description: string, parts: ProviderListParts): Action<unknown> {
  return {
    method: 'POST',
    description,
    run: ({ id }) => Promise.resolve({ status: 200, body: find(id, parts) }),
  }
}

/** The namespace an id ends in, shown; refuses one that is not installed. */
/** What `providers()` in a template answers: namespaces with their types, by their names in lower case. */
export function offersOf(parts: ProviderListParts): () => Readonly<Record<string, JsonObject>> {
  let known: Readonly<Record<string, JsonObject>> | undefined
  return () => {
    known ??= offered(parts)
    return known
  }
}

function offered(parts: ProviderListParts): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(
    namespacesOf(parts).map((namespace) => {
      const resourceTypes = typesOf(namespace, parts).map((type): JsonObject => ({ ...type }))
      return [namespace.toLowerCase(), { namespace, resourceTypes }]
    }),
  )
}

function find(id: ResourceId, parts: ProviderListParts): object {
  const wanted = nameOf(id).toLowerCase()
  const namespace = namespacesOf(parts).find((one) => one.toLowerCase() === wanted)
  if (namespace === undefined) throw refuse.InvalidResourceNamespace({ namespace: nameOf(id) })
  const path = id.text.toLowerCase().lastIndexOf('/providers/')
  return show({ text: path === 0 ? '/' : id.text.slice(0, path) }, namespace, parts)
}

function namespacesOf({ describe }: ProviderListParts): readonly string[] {
  return [...new Set(describe().map((route) => route.namespace))].sort()
}

function show(
  parent: Pick<ResourceId, 'text'>,
  namespace: string,
  parts: ProviderListParts,
): object {
  return {
    id: `${parent.text === '/' ? '' : parent.text}/providers/${namespace}`,
    namespace,
    registrationPolicy: 'RegistrationFree',
    registrationState: 'Registered',
    resourceTypes: typesOf(namespace, parts),
  }
}

function typesOf(
  namespace: string,
  { describe, locations }: ProviderListParts,
): readonly ShownType[] {
  const names = locations.map((location) => location.displayName)
  const types = new Map<string, ShownType>()
  for (const route of describe()) {
    if (route.namespace !== namespace) continue
    const resourceType = route.type.slice(namespace.length + 1)
    const before = types.get(resourceType)
    const apiVersions = [
      ...new Set([...(before?.apiVersions ?? []), ...route.versions, ...route.alikeVersions]),
    ]
    apiVersions.sort().reverse()
    const [newest] = apiVersions
    types.set(resourceType, {
      resourceType,
      // What lives in a subscription can lie in any location; what lives at the root in none.
      locations: route.path.toLowerCase().startsWith('/subscriptions/') ? names : [],
      apiVersions,
      ...(newest === undefined ? {} : { defaultApiVersion: newest }),
      capabilities: 'None',
    })
  }
  return [...types.values()].sort((a, b) => (a.resourceType < b.resourceType ? -1 : 1))
}
