/** The list of providers, one line each, and what they need besides the world: their engines. */

import type { Provider } from '#plane/define.ts'
import type { World } from '#plane/world.ts'
import type { Migration } from '#stores/store.ts'
import { authorizationProvider, type Inspection } from './authorization/provider.ts'
import {
  type ContainerInstanceParts,
  containerInstanceProvider,
} from './container-instance/provider.ts'
import { openManagedIdentities } from './managed-identity/managed-identities.ts'
import { managedIdentityProvider } from './managed-identity/provider.ts'
import { resourcesProvider } from './resources/provider.ts'
import { secretsProvider } from './secrets/provider.ts'
import { openSecretStore } from './secrets/secret-store.ts'

/** The engine of containers and what goes with it: what the world does not have. */
export type ContainerEngines = Omit<ContainerInstanceParts, keyof World | 'reader' | 'seal'>

export interface ProviderParts {
  readonly world: World
  /** The authorizer's answer, from the index it keeps. */
  isRoleInUse(roleId: string): boolean | undefined
  /** The authorizer, for those who ask why. */
  readonly inspection?: Inspection
  /** Without it the namespace is not there. */
  readonly containers?: ContainerEngines
}

export function providers(parts: ProviderParts): readonly Provider[] {
  const { world, inspection, containers } = parts
  const { words, directory, tenantId, services } = world
  const secrets = { seal: world.sealOf('secrets'), ids: world.ids }
  const { seal, reader } = { seal: world.sealOf('containers'), reader: services.reader }
  return [
    resourcesProvider({ tenantId, ...services }),
    authorizationProvider({
      words,
      directory,
      isRoleInUse: (id) => parts.isRoleInUse(id),
      ...(inspection === undefined ? {} : { inspection }),
    }),
    secretsProvider(secrets),
    managedIdentityProvider(world),
    ...(containers === undefined
      ? []
      : [
          containerInstanceProvider({
            ...world,
            secrets: openSecretStore({ reader, seal: secrets.seal }),
            identities: openManagedIdentities({ reader, words }),
            ...containers,
            seal,
            reader,
          }),
        ]),
  ]
}

/** The tables of the providers that own some. */
export const providerMigrations: readonly Migration[] = []
