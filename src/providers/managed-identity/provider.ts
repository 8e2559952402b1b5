/** The namespace `ManagedIdentity`: identities for workloads, that live apart from the resources they are lent to. */

import { defineProvider, type Provider } from '#plane/define.ts'
import type { World } from '#plane/world.ts'
import { userAssignedIdentities } from './user-assigned-identities/resource.ts'

export function managedIdentityProvider(world: World): Provider {
  return defineProvider({
    namespace: 'ManagedIdentity',
    description: 'Identities of the directory that resources run with.',
    types: [userAssignedIdentities(world)],
  })
}
