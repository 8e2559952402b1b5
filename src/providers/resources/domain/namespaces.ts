/** The installed namespaces with their types and versions, for provider lists and templates. */

import type { RouteDescription } from '#plane/plane.ts'
import type { JsonObject } from '#template/plan.ts'
import type { Location } from './locations.ts'

interface ShownType {
  readonly resourceType: string
  readonly locations: readonly string[]
  readonly apiVersions: readonly string[]
  readonly defaultApiVersion?: string
  readonly capabilities: string
}

export interface ProviderListDependencies {
  /** The whole table of routes; read for each list, since it is complete only after the start. */
  describe(): readonly RouteDescription[]
  readonly locations: readonly Location[]
}

/** The answer of `providers()` in a template: namespaces with their types, by name in lower case. */
export function offersOf(
  deps: ProviderListDependencies,
): () => Readonly<Record<string, JsonObject>> {
  let known: Readonly<Record<string, JsonObject>> | undefined
  return () => {
    known ??= offered(deps)
    return known
  }
}

function offered(deps: ProviderListDependencies): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(
    namespacesOf(deps).map((namespace) => {
      const resourceTypes = typesOf(namespace, deps).map((type): JsonObject => ({ ...type }))
      return [namespace.toLowerCase(), { namespace, resourceTypes }]
    }),
  )
}

export function namespacesOf({ describe }: ProviderListDependencies): readonly string[] {
  return [...new Set(describe().map((route) => route.namespace))].sort()
}

export function typesOf(
  namespace: string,
  { describe, locations }: ProviderListDependencies,
): readonly ShownType[] {
  const names = locations.map((location) => location.displayName)
  const types = new Map<string, ShownType>()
  for (const route of describe()) {
    if (route.namespace !== namespace) continue
    const resourceType = route.type.slice(namespace.length + 1)
    const before = types.get(resourceType)
    const apiVersions = [
      ...new Set([...(before?.apiVersions ?? []), ...route.versions, ...route.compatibleVersions]),
    ]
    apiVersions.sort().reverse()
    const [newest] = apiVersions
    types.set(resourceType, {
      resourceType,
      // Types in a subscription may be in any location; types at the root in none.
      locations: route.path.toLowerCase().startsWith('/subscriptions/') ? names : [],
      apiVersions,
      ...(newest === undefined ? {} : { defaultApiVersion: newest }),
      capabilities: 'None',
    })
  }
  return [...types.values()].sort((a, b) => (a.resourceType < b.resourceType ? -1 : 1))
}
