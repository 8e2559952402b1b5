/**
 * The namespace `ApiManagement`: definitions of APIs and their operations, and authorizations, which hold tokens.
 * It has no gateway, and contacts only identity providers.
 */

import { defineProvider, type Provider } from '#plane/declare/provider.ts'
import type { ConsentDependencies, ServiceDependencies } from './dependencies.ts'
import { openConsentCodeThrottle } from './domain/consent/consent-code-throttle.ts'
import { startRefreshing } from './domain/consent/refresh-tokens.ts'
import { apiManagementErrors, consentErrors, refuseFields } from './errors.ts'
import { accessPolicies } from './resources/access-policies/resource.ts'
import { apiProducts } from './resources/api-products/resource.ts'
import { apis } from './resources/apis/resource.ts'
import { authorizationProviders } from './resources/authorization-providers/resource.ts'
import { authorizations } from './resources/authorizations/resource.ts'
import { definitions } from './resources/definitions/resource.ts'
import { deletedServices } from './resources/deleted-services/resource.ts'
import { links } from './resources/links/resource.ts'
import { nameAvailability } from './resources/name-availability/resource.ts'
import { namedValues } from './resources/named-values/resource.ts'
import { operationPolicies } from './resources/operation-policies/resource.ts'
import { operations } from './resources/operations/resource.ts'
import { revisions } from './resources/revisions/resource.ts'
import { services } from './resources/services/resource.ts'
import { subscriptions } from './resources/subscriptions/resource.ts'
import { workspaces } from './resources/workspaces/resource.ts'

export function apiManagementProvider(
  consent?: ConsentDependencies & ServiceDependencies,
): Provider {
  return defineProvider({
    namespace: 'ApiManagement',
    serviceNames: ['API Management'],
    description: 'APIs and their operations, as definitions.',
    errors: { ...apiManagementErrors.entries, ...consentErrors.entries },
    refuseProblems: refuseFields,
    types: [
      services(consent),
      nameAvailability(),
      workspaces(),
      ...definitions(),
      ...apis(),
      ...operations(),
      ...operationPolicies(),
      ...links(),
      apiProducts(),
      revisions(),
      ...deletedServices(),
      ...(consent === undefined
        ? []
        : [
            namedValues(consent),
            subscriptions(consent),
            authorizationProviders(consent),
            authorizations(consent, openConsentCodeThrottle()),
            accessPolicies(),
          ]),
    ],
    ...(consent === undefined ? {} : { start: () => startRefreshing(consent) }),
  })
}
