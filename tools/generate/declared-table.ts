/** The table of resource types as the contract spells it, made without a store or an engine: nothing here is run. */

import { contractWords, type VendorWords } from '#kernel/vendor.ts'
import { describe } from '#plane/describe.ts'
import type { RouteDescription } from '#plane/plane.ts'
import { createRegistry, type Registry } from '#plane/registry.ts'
import { providers } from '#providers/index.ts'

export interface DeclaredTable {
  readonly registry: Registry
  readonly routes: readonly RouteDescription[]
  readonly words: VendorWords
}

export function declaredTable(): DeclaredTable {
  const never = (): never => {
    throw new Error('declarations only: nothing is run here')
  }
  const registry = createRegistry(
    providers({
      words: contractWords,
      directory: { find: never, groupsOf: never },
      tenantId: '00000000-0000-0000-0000-000000000000',
      isRoleInUse: never,
      services: { describe: never, emptyScope: never, listTracked: never },
    }),
    contractWords,
  )
  return { registry, routes: describe(registry), words: contractWords }
}
