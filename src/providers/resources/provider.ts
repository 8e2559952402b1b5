/** The namespace `Resources`: the scopes everything lives in, and lists across all other namespaces. */

import { defaultLimits } from '#kernel/limits.ts'
import type { Provider } from '#plane/define.ts'
import type { DeploymentParts } from './deployments/engine.ts'
import { deploymentErrors } from './deployments/errors.ts'
import { deployments } from './deployments/resource.ts'
import { resourcesErrors } from './errors.ts'
import { defaultLocations, type Location } from './locations/locations.ts'
import { locations } from './locations/resource.ts'
import { offersOf, type ProviderListParts, providerLists } from './provider-lists/resource.ts'
import { publishedVersions } from './published-versions.ts'
import type { EmptyScope } from './resource-groups/reconcile.ts'
import { resourceGroups } from './resource-groups/resource.ts'
import { type ListTracked, resourceLists } from './resource-lists/resource.ts'
import { subscriptions } from './subscriptions/resource.ts'
import { tenants } from './tenants/resource.ts'

export type { LinkedText, TemplateLinks } from './deployments/links.ts'

export interface ResourcesProviderParts {
  readonly tenantId: string
  /** The plane's: removes a bounded part of what is below a scope. */
  readonly emptyScope: EmptyScope
  /** The plane's: tracked resources of every type below a scope. */
  readonly listTracked: ListTracked
  /** The plane's: every route there is. */
  readonly describe: ProviderListParts['describe']
  readonly locations?: readonly Location[]
  /** Without them there are no deployments. */
  readonly deployments?: DeploymentParts
  /** Rows looked at for one page of a filtered list. */
  readonly scanRowsMax?: number
}

export function resourcesProvider(parts: ResourcesProviderParts): Provider {
  const { tenantId, emptyScope, listTracked, describe } = parts
  const { locations: all = defaultLocations, scanRowsMax = defaultLimits.filterScanRowsMax } = parts
  return {
    namespace: 'Resources',
    alikeVersions: publishedVersions,
    description: 'Tenants, subscriptions, resource groups, and what is in them.',
    errors: { ...resourcesErrors.entries, ...deploymentErrors.entries },
    types: [
      tenants(tenantId),
      subscriptions({ tenantId, scanRowsMax }),
      locations(all),
      resourceGroups({ emptyScope, implicitLocation: all[0]?.name ?? 'local', scanRowsMax }),
      ...resourceLists({ listTracked, scanRowsMax }),
      ...providerLists({ describe, locations: all }),
      ...(parts.deployments === undefined
        ? []
        : deployments({
            ...parts.deployments,
            offers: offersOf({ describe, locations: all }),
          })),
    ],
  }
}
