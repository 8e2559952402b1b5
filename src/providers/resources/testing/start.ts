/** Deployments on a real plane, store and authorizer, with the providers that the tests deploy to. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { type Clock, type Seal, silentLog } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { contractWords, type VendorWords } from '#kernel/vendor.ts'
import { createPlane, type PlaneServices, type RunningPlane } from '#plane/create-plane.ts'
import type { Provider } from '#plane/declare/provider.ts'
import type { Method, Outcome } from '#plane/plane.ts'
import { ask } from '#plane/testing/ask.ts'
import {
  memoryWorkloads,
  realClock,
  realIds,
  testProviderContext,
  testSeal,
} from '#plane/testing/provider-context.ts'
import type { SubjectOptions } from '#plane/testing/resource-contract.ts'
import { memoryStore, owner, realTimers } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { until } from '../../../../tests/until.ts'
import { createAuthorizer } from '../../authorization/domain/authorizer.ts'
import { builtInRoleIds, ownerRoleId } from '../../authorization/domain/built-in-roles.ts'
import { lockGuard } from '../../authorization/domain/lock-guard.ts'
import { authorizationProvider } from '../../authorization/provider.ts'
import { containerInstanceProvider } from '../../container-instance/provider.ts'
import { genericProvider, withDocumentPrincipals } from '../../generic/provider.ts'
import { managedIdentityProvider } from '../../managed-identity/provider.ts'
import { placedScopes } from '../../management/domain/hierarchy.ts'
import { managementProvider } from '../../management/provider.ts'
import { openSecretStore } from '../../secrets/domain/secret-store.ts'
import { secretsProvider } from '../../secrets/provider.ts'
import { TemplateThreads } from '../domain/evaluation/template-threads.ts'
import { resourcesProvider, type TemplateLinks } from '../provider.ts'

/** Shared by all that is started in this process: a thread takes longer to start than a plane. */
const threads = new TemplateThreads(realClock)

export const subscription = '/subscriptions/11111111-2222-4333-8444-555555555555'
export const group = `${subscription}/resourceGroups/rg`
const versionNow = '2025-03-01'

/** A template of these resources, for a group. */
export function templateFor(resources: readonly object[], sections: object = {}): object {
  return { $schema: 'deploymentTemplate.json#', contentVersion: '1.0.0.0', resources, ...sections }
}

export interface Started extends AsyncDisposable {
  readonly plane: RunningPlane
  readonly store: Store
  call(
    method: Method,
    path: string,
    body?: unknown,
    options?: Pick<SubjectOptions, 'version' | 'meanwhile'> & { readonly as?: Principal },
  ): Promise<Outcome>
  /** Resolves when no deployment and no stack is running any more. */
  settle(): Promise<void>
}

interface StartOptions {
  /** Kept open at the end, for who starts again on it. */
  readonly store?: Store
  /** Background work is not begun: as if killed right after the answer. */
  readonly asleep?: boolean
  /** One that another process can open too. */
  readonly seal?: Seal
  /** In the place of those that all share, with their allowances. */
  readonly threads?: TemplateThreads
  /** Of a process that starts later. */
  readonly clock?: Clock
  readonly links?: TemplateLinks
  /** Types that nobody serves are stored as documents. */
  readonly generic?: boolean
  readonly words?: VendorWords
  /** Of the simulated containers, for a process that is killed; the caller removes it. */
  readonly folder?: string
}

export async function startDeployments(options: StartOptions = {}): Promise<Started> {
  const { words = contractWords } = options
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'armature-deployments-'))
  const store = options.store ?? (await memoryStore())
  const engine = new SimulatedEngine({
    folder,
    installation: 'test',
    clock: realClock,
    timers: realTimers,
  })
  const directory = { find: async () => undefined, groupsOf: async () => [] }
  const authorizer = createAuthorizer({
    words,
    feed: store.feed('authorization'),
    directoryFeed: { position: () => 0 },
    directory,
    reader: { get: (id) => plane.reader.get(id), each: (query) => plane.reader.each(query) },
    placed: placedScopes(words, owner.tenantId),
  })
  const { tenantId } = owner
  const context = { clock: options.clock ?? realClock, ids: realIds, words, tenantId }
  const plane = createPlane({
    ...context,
    providers: (services) => [
      resourcesProvider({
        ...services,
        tenantId,
        deployments: {
          ...context,
          services,
          threads: options.threads ?? threads,
          seal: options.seal ?? testSeal,
          secrets: openSecretStore({ services, seal: testSeal }),
          ...(options.links === undefined ? {} : { links: options.links }),
          publicUrl: () => 'http://armature.example',
          takesAnyType: options.generic === true,
          roles: builtInRoleIds(words),
        },
      }),
      authorizationProvider({
        words,
        directory: options.generic === true ? withDocumentPrincipals(directory) : directory,
        assignmentsOf: (roleId) => authorizer.assignmentsOf(roleId),
        scopesAbove: (scope) => authorizer.scopesAbove(scope),
        placesAbove: (scope) => authorizer.placesAbove(scope),
        inspection: {
          explain: (question) => authorizer.explain(question),
          permissionsAt: (principal, scope) => authorizer.permissionsAt(principal, scope),
          attributesOf: (id) => services.attributesOf(id),
          findDenied: async () => undefined,
        },
      }),
      managementProvider({ words, tenantId }),
      secretsProvider({ seal: testSeal, ids: realIds }),
      containerInstanceProvider({
        ...context,
        engine,
        reader: services.reader,
        seal: testSeal,
        workloads: memoryWorkloads(),
        timers: realTimers,
        log: silentLog,
        secrets: openSecretStore({ services, seal: testSeal }),
      }),
      ...(options.generic === true ? genericAndIdentities(store, services, words) : []),
    ],
    store,
    ...(options.generic === true ? { apiVersions: 'nearest' as const } : {}),
    access: authorizer,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
    scopes: 'implicit',
    timers: realTimers,
    guards: [lockGuard],
  })
  const vendor = words.namespace
  const roleDefinitionId = `${subscription}/providers/${vendor}.Authorization/roleDefinitions/${ownerRoleId}`
  const properties = { principalId: owner.id, roleDefinitionId, principalType: 'User' }
  const first = `/providers/${vendor}.Authorization/roleAssignments/${owner.id}`
  const unasked = { as: owner, version: '2022-04-01', isUnasked: true }
  await ask(plane, 'PUT', first, { properties }, unasked)
  if (options.asleep !== true) plane.reconciler.start()
  return {
    plane,
    store,
    call: (method, path, body, options = {}) =>
      ask(plane, method, path, body, { as: owner, version: versionNow, ...options }),
    async settle() {
      await until(async () => {
        await plane.reconciler.idle()
        const rows = await Promise.all(
          ['Resources/deployments', 'Resources/deploymentStacks'].map((type) =>
            plane.reader.list({ type, under: '/', limit: 100 }),
          ),
        )
        return rows.flat().every((row) => isTerminalState(row.state))
      })
    },
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      await authorizer[Symbol.asyncDispose]()
      await engine[Symbol.asyncDispose]()
      if (options.store === undefined) await store[Symbol.asyncDispose]()
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What published templates deploy besides. */
function genericAndIdentities(
  store: Store,
  services: PlaneServices,
  words: VendorWords,
): readonly Provider[] {
  const context = testProviderContext(store, services, { words })
  return [
    managedIdentityProvider(context),
    genericProvider({ ...context, seal: testSeal, schemaFiles: [] }),
  ]
}
