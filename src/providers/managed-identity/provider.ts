/** The namespace `ManagedIdentity`: identities for workloads, that live apart from the resources they are lent to. */

import { defineProvider, type Provider } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import { federatedIdentityCredentials } from './resources/federated-identity-credentials/resource.ts'
import { identities } from './resources/identities/resource.ts'
import { userAssignedIdentities } from './resources/user-assigned-identities/resource.ts'

export function managedIdentityProvider(context: ProviderContext): Provider {
  return defineProvider({
    namespace: 'ManagedIdentity',
    serviceNames: ['Managed identities'],
    compatibleVersions: [
      '2015-08-31-preview',
      '2018-11-30',
      '2021-09-30-preview',
      '2022-01-31-preview',
      '2023-07-31-preview',
      '2024-11-30',
      '2025-01-31-preview',
    ],
    description: 'Identities of the directory that resources run with.',
    types: [userAssignedIdentities(context), federatedIdentityCredentials(), identities(context)],
  })
}
