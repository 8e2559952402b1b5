/** The list of providers, one line each, and what they need from outside: one parameter for all of them. */

import type { Directory } from '#kernel/principal.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { Provider } from '#plane/define.ts'
import { authorizationProvider } from './authorization/provider.ts'
import { resourcesProvider } from './resources/provider.ts'

export interface ProviderParts {
  readonly words: VendorWords
  readonly directory: Directory
  readonly tenantId: string
  /** The authorizer's answer, from the index it keeps. */
  isRoleInUse(roleId: string): boolean | undefined
  readonly services: Pick<PlaneServices, 'describe' | 'emptyScope' | 'listTracked'>
}

export function providers(parts: ProviderParts): readonly Provider[] {
  const { words, directory, tenantId, services } = parts
  const { describe, emptyScope, listTracked } = services
  return [
    resourcesProvider({ tenantId, describe, emptyScope, listTracked }),
    authorizationProvider({ words, directory, isRoleInUse: (id) => parts.isRoleInUse(id) }),
  ]
}
