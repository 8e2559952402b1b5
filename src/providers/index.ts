/** The list of providers, one line each, and what they need from outside: one parameter for all of them. */

import type { Directory } from '#kernel/principal.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { Provider } from '#plane/define.ts'
import { authorizationProvider, type Inspection } from './authorization/provider.ts'
import {
  type ContainerInstanceParts,
  containerInstanceProvider,
} from './container-instance/provider.ts'
import { resourcesProvider } from './resources/provider.ts'
import { type SecretsParts, secretsProvider } from './secrets/provider.ts'
import { openSecretStore } from './secrets/secret-store.ts'

export interface ProviderParts {
  readonly words: VendorWords
  readonly directory: Directory
  readonly tenantId: string
  /** The authorizer's answer, from the index it keeps. */
  isRoleInUse(roleId: string): boolean | undefined
  /** The authorizer, for those who ask why. */
  readonly inspection?: Inspection
  /** The engine of containers and what goes with it; without it the namespace is not there. */
  readonly containers?: Omit<ContainerInstanceParts, 'reader' | 'tenantId'>
  /** Seals the secrets of vaults; without it the namespace is not there. */
  readonly secrets?: SecretsParts
  readonly services: Pick<PlaneServices, 'describe' | 'emptyScope' | 'listTracked' | 'reader'>
}

export function providers(parts: ProviderParts): readonly Provider[] {
  const { words, directory, tenantId, inspection, containers, secrets, services } = parts
  const { describe, emptyScope, listTracked, reader } = services
  return [
    resourcesProvider({ tenantId, describe, emptyScope, listTracked }),
    authorizationProvider({
      words,
      directory,
      isRoleInUse: (id) => parts.isRoleInUse(id),
      ...(inspection === undefined ? {} : { inspection }),
    }),
    ...(secrets === undefined ? [] : [secretsProvider(secrets)]),
    ...(containers === undefined
      ? []
      : [
          containerInstanceProvider({
            ...(secrets === undefined
              ? {}
              : { secrets: openSecretStore({ reader, seal: secrets.seal }) }),
            ...containers,
            reader,
            tenantId,
          }),
        ]),
  ]
}
