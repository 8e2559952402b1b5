/**
 * The namespace `ApiManagement`: definitions of APIs and of their operations, and authorizations, which hold tokens.
 * It has no gateway; identity providers are all it calls.
 */

import { defineProvider, type Provider } from '#plane/define.ts'
import { apis } from './apis/resource.ts'
import { authorizations } from './authorizations/authorizations.ts'
import { startRefreshing } from './authorizations/background.ts'
import { consentErrors } from './authorizations/errors.ts'
import { openGuesses } from './authorizations/guesses.ts'
import type { ConsentParts } from './authorizations/parts.ts'
import { accessPolicies } from './authorizations/policies.ts'
import { authorizationProviders } from './authorizations/providers.ts'
import { apiManagementErrors, refuseFields } from './errors.ts'
import { operationPolicies } from './operation-policies/resource.ts'
import { operations } from './operations/resource.ts'
import { services } from './services/resource.ts'
import { workspaces } from './workspaces/resource.ts'

export function apiManagementProvider(consent?: ConsentParts): Provider {
  return defineProvider({
    namespace: 'ApiManagement',
    description: 'APIs and their operations, as definitions.',
    errors: { ...apiManagementErrors.entries, ...consentErrors.entries },
    refuseProblems: refuseFields,
    types: [
      services(),
      workspaces(),
      ...apis(),
      ...operations(),
      ...operationPolicies(),
      ...(consent === undefined
        ? []
        : [
            authorizationProviders(consent),
            authorizations(consent, openGuesses()),
            accessPolicies(),
          ]),
    ],
    ...(consent === undefined ? {} : { start: () => startRefreshing(consent) }),
  })
}
