/** The namespace `Resources`: the scopes that contain everything, and lists across all namespaces. */

import { defaultLimits } from '#kernel/limits.ts'
import type { Provider, ResourceType } from '#plane/declare/provider.ts'
import type { DeploymentDependencies, ResourcesProviderDependencies } from './dependencies.ts'
import { defaultLocations } from './domain/locations.ts'
import { offersOf } from './domain/namespaces.ts'
import { deploymentErrors, resourcesErrors } from './errors.ts'
import { publishedVersions } from './published-versions.ts'
import { deploymentStacks } from './resources/deployment-stacks/resource.ts'
import { deployments } from './resources/deployments/resource.ts'
import { locations } from './resources/locations/resource.ts'
import { checkResourceName } from './resources/name-check/resource.ts'
import { providerLists } from './resources/provider-lists/resource.ts'
import { groupActions } from './resources/resource-groups/actions.ts'
import { resourceGroups } from './resources/resource-groups/resource.ts'
import { resourceLists } from './resources/resource-lists/resource.ts'
import { subscriptions } from './resources/subscriptions/resource.ts'
import { tagNames } from './resources/tag-names/resource.ts'
import { tagsOfScopes } from './resources/tags/resource.ts'
import { calculateTemplateHash } from './resources/template-hash/resource.ts'
import { versionsOfTemplateSpecs } from './resources/template-spec-versions/resource.ts'
import { templateSpecs } from './resources/template-specs/resource.ts'
import { tenants } from './resources/tenants/resource.ts'

export type { LinkedText, TemplateLinks } from './domain/deployments/links.ts'

export function resourcesProvider(deps: ResourcesProviderDependencies): Provider {
  const { tenantId, emptyScope, onSettled, listTracked, describe } = deps
  const { locations: all = defaultLocations, scanRowsMax = defaultLimits.filterScanRowsMax } = deps
  return {
    namespace: 'Resources',
    serviceNames: ['Resource Manager'],
    compatibleVersions: publishedVersions,
    description: 'Tenants, subscriptions, resource groups, and what is in them.',
    errors: { ...resourcesErrors.entries, ...deploymentErrors.entries },
    types: [
      tenants(tenantId),
      subscriptions({ tenantId, scanRowsMax }),
      locations(all),
      resourceGroups({
        emptyScope,
        onSettled,
        implicitLocation: all[0]?.name ?? 'local',
        scanRowsMax,
        actions: groupActions(deps),
      }),
      calculateTemplateHash(),
      checkResourceName(),
      templateSpecs(),
      versionsOfTemplateSpecs(),
      tagsOfScopes(deps),
      ...tagNames({ listTracked, scanRowsMax }),
      ...resourceLists({ listTracked, scanRowsMax }),
      ...providerLists({ describe, locations: all }),
      ...(deps.deployments === undefined
        ? []
        : deploymentTypes({
            ...deps.deployments,
            offers: offersOf({ describe, locations: all }),
          })),
    ],
  }
}

function deploymentTypes(deps: DeploymentDependencies): readonly ResourceType[] {
  return [...deployments(deps), deploymentStacks(deps)]
}
