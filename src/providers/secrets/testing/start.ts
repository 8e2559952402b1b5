/** Vaults, and container groups that refer to them, on a real plane, with rights that a test decides. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { silentLog } from '#kernel/ports.ts'
import { contractWords } from '#kernel/vendor.ts'
import type { AccessRequest } from '#plane/access.ts'
import { createPlane, type RunningPlane } from '#plane/create-plane.ts'
import { ask } from '#plane/testing/ask.ts'
import { memoryWorkloads, testSeal } from '#plane/testing/provider-context.ts'
import type { Subject } from '#plane/testing/resource-contract.ts'
import { memoryStore, nobody, owner, realTimers } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { containerInstanceProvider } from '../../container-instance/provider.ts'
import { ids } from '../../container-instance/testing/start.ts'
import { resourcesProvider } from '../../resources/provider.ts'
import { type OpenedSecretStore, openSecretStore } from '../domain/secret-store.ts'
import { secretsProvider } from '../provider.ts'

const subscription = '/subscriptions/11111111-2222-4333-8444-555555555555'
export const group = `${subscription}/resourceGroups/rg`
export const vaults = `${group}/providers/Vendor.Secrets/vaults`
export const groups = `${group}/providers/Vendor.ContainerInstance/containerGroups`

export interface Started extends Subject, AsyncDisposable {
  readonly plane: RunningPlane
  readonly store: Store
  readonly secrets: OpenedSecretStore
}

export async function startSecrets(
  allows: (question: AccessRequest) => boolean | Promise<boolean> = ({ principal }) =>
    principal.id === owner.id,
): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'armature-secrets-'))
  const store = await memoryStore()
  const clock = { now: () => Date.now() }
  const engine = new SimulatedEngine({ folder, installation: 'test', clock, timers: realTimers })
  let secrets: OpenedSecretStore | undefined
  const plane = createPlane({
    providers: (services) => {
      secrets = openSecretStore({ services, seal: testSeal })
      return [
        resourcesProvider({ tenantId: owner.tenantId, ...services }),
        secretsProvider({ seal: testSeal, ids, limits: { versionsPerSecretMax: 3 } }),
        containerInstanceProvider({
          engine,
          reader: services.reader,
          seal: testSeal,
          workloads: memoryWorkloads(),
          clock,
          ids,
          timers: realTimers,
          log: silentLog,
          tenantId: owner.tenantId,
          secrets,
        }),
      ]
    },
    store,
    access: {
      async allows(question) {
        // As the installation's own does. It fails inside a transaction.
        await store.get(question.scope.key)
        return allows(question)
      },
    },
    words: contractWords,
    clock,
    ids,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
    scopes: 'implicit',
    timers: realTimers,
  })
  plane.reconciler.start()
  if (secrets === undefined) throw new Error('the plane makes its providers when it is made')
  return {
    registry: plane.registry,
    plane,
    store,
    secrets,
    settle: () => plane.reconciler.idle(),
    call(method, path, body, { stranger, ...options } = {}) {
      const as = stranger === true ? nobody : owner
      const version = path.includes('ContainerInstance') ? '2025-09-01' : '2026-01-01'
      return ask(plane, method, path, body, { as, version, ...options })
    },
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      await engine[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
