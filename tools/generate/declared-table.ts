/** The table of resource types as the contract spells it, made without a store or an engine: nothing here is run. */

import type { ContainerEngine } from '#engines/containers/engine.ts'
import type { CopyEngine } from '#engines/copy/engine.ts'
import type { DatabaseEngine } from '#engines/databases/engine.ts'
import { silentLog } from '#kernel/ports.ts'
import { contractWords, type VendorWords } from '#kernel/vendor.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import { describe } from '#plane/describe.ts'
import type { RouteDescription } from '#plane/plane.ts'
import { createRegistry, type Registry } from '#plane/registry.ts'
import type { Inspection } from '#providers/authorization/dependencies.ts'
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
  // Parts may be handed on, but none of their members is ever called.
  const undeclared = <T extends object>(): T => new Proxy({} as T, { get: () => never })
  const registry = createRegistry(
    providers({
      context: {
        words: contractWords,
        directory: { find: never, groupsOf: never },
        workloads: { of: never, give: never, take: never },
        tenantId: '00000000-0000-0000-0000-000000000000',
        clock: { now: never },
        ids: { uuid: never, secret: never },
        timers: { after: never },
        log: silentLog,
        sql: { dialect: 'sqlite', all: never, scan: never, snapshot: never, transact: never },
        sealOf: () => ({ seal: never, open: never }),
        publicUrl: never,
        services: undeclared<PlaneServices>(),
      },
      assignmentsOf: never,
      inspection: undeclared<Inspection>(),
      containers: { engine: undeclared<ContainerEngine>() },
      consent: { tokens: { ask: never }, redirects: [] },
      migrating: {
        engine: undeclared<DatabaseEngine>(),
        settings: {
          fence: 'stay',
          verify: 'counts',
          atOnceMax: 1,
          tablesAtOnce: 1,
          databasesAtOnce: 1,
        },
      },
      copying: { engine: undeclared<CopyEngine>(), root: '/', databasesRoot: '/' },
    }),
    contractWords,
  )
  return { registry, routes: describe(registry), words: contractWords }
}
