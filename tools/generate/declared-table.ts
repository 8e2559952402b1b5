/** The table of resource types as the contract spells it, made without a store or an engine: nothing here is run. */

import type { ContainerEngine } from '#engines/containers/engine.ts'
import { silentLog } from '#kernel/ports.ts'
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
  // No member of it is ever asked for.
  const declaredEngine = new Proxy({} as ContainerEngine, { get: never })
  const registry = createRegistry(
    providers({
      words: contractWords,
      directory: { find: never, groupsOf: never },
      tenantId: '00000000-0000-0000-0000-000000000000',
      isRoleInUse: never,
      inspection: { explain: never, permissionsAt: never, attributesOf: never, findDenied: never },
      containers: {
        engine: declaredEngine,
        seal: { seal: never, open: never },
        clock: { now: never },
        ids: { uuid: never, secret: never },
        timers: { after: never },
        log: silentLog,
      },
      secrets: { seal: { seal: never, open: never }, ids: { uuid: never, secret: never } },
      services: {
        describe: never,
        emptyScope: never,
        listTracked: never,
        reader: { get: never, list: never, count: never },
      },
    }),
    contractWords,
  )
  return { registry, routes: describe(registry), words: contractWords }
}
