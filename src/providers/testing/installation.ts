/** The providers together on a real plane, store and authorizer, for tests that see what a request sees. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { ApiError } from '#kernel/error.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { silentLog } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { contractWords } from '#kernel/vendor.ts'
import { createPlane, type RunningPlane } from '#plane/create-plane.ts'
import type { Method, Outcome } from '#plane/plane.ts'
import { ask } from '#plane/testing/ask.ts'
import { realClock, realIds, testProviderContext } from '#plane/testing/provider-context.ts'
import type { Subject, SubjectOptions } from '#plane/testing/resource-contract.ts'
import { memoryStore, nobody, owner, realTimers } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { unasked } from '../api-management/testing/unasked.ts'
import { createAuthorizer } from '../authorization/domain/authorizer.ts'
import { ownerRoleId } from '../authorization/domain/built-in-roles.ts'
import { lockGuard } from '../authorization/domain/lock-guard.ts'
import { providers } from '../index.ts'
import { placedScopes } from '../management/domain/hierarchy.ts'

export const subscription = '/subscriptions/11111111-2222-4333-8444-555555555555'
export const group = `${subscription}/resourceGroups/rg`
export const team = '00000000-0000-4000-8000-0000000000aa'
export const version = '2022-04-01'
export const authorization = 'providers/Vendor.Authorization'

export interface Options extends SubjectOptions {
  readonly as?: Principal
  readonly signal?: AbortSignal
}

export interface Installation extends Subject, AsyncDisposable {
  readonly plane: RunningPlane
  readonly groups: Map<string, readonly string[]>
  call(method: Method, path: string, body?: unknown, options?: Options): Promise<Outcome>
  /** Says that a membership changed. */
  moveDirectory(): void
}

export async function openInstallation(
  scopes: 'implicit' | 'declared' = 'implicit',
  given?: Store,
): Promise<Installation> {
  const store = given ?? (await memoryStore())
  const groups = new Map<string, readonly string[]>()
  let directoryPosition = 0
  const directory = {
    find: (id: string) =>
      Promise.resolve(id === team ? ({ type: 'Group', displayName: 'team' } as const) : undefined),
    groupsOf: (id: string) => Promise.resolve(groups.get(id) ?? []),
  }
  const authorizer = createAuthorizer({
    words: contractWords,
    feed: store.feed('authorization'),
    directoryFeed: { position: () => directoryPosition },
    directory,
    reader: { get: (id) => plane.reader.get(id), each: (query) => plane.reader.each(query) },
    placed: placedScopes(contractWords, owner.tenantId),
  })
  const plane = createPlane({
    providers: (services) =>
      providers({
        context: testProviderContext(store, services, { directory }),
        assignmentsOf: (roleId) => authorizer.assignmentsOf(roleId),
        scopesAbove: (scope) => authorizer.scopesAbove(scope),
        placesAbove: (scope) => authorizer.placesAbove(scope),
        consent: unasked,
        inspection: {
          explain: (asked) => authorizer.explain(asked),
          permissionsAt: (principal, scope) => authorizer.permissionsAt(principal, scope),
          attributesOf: (id) => services.attributesOf(id),
          findDenied: async () => undefined,
        },
      }),
    store,
    access: authorizer,
    words: contractWords,
    clock: realClock,
    ids: realIds,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
    scopes,
    timers: realTimers,
    guards: [lockGuard],
  })
  await ask(
    plane,
    'PUT',
    `/${authorization}/roleAssignments/${owner.id}`,
    assignment(owner.id, ownerRoleId),
    { as: owner, version, isUnasked: true },
  )
  plane.reconciler.start()
  return {
    plane,
    registry: plane.registry,
    groups,
    call(
      method,
      path,
      body,
      { stranger, as = stranger === true ? nobody : owner, ...options } = {},
    ) {
      return ask(plane, method, path, body, { as, version, ...options })
    },
    settle: () => plane.reconciler.idle(),
    moveDirectory: () => {
      directoryPosition += 1
    },
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      await authorizer[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}

export function assignment(principalId: string, roleId: string, extra: object = {}): object {
  const roleDefinitionId = `${subscription}/${authorization}/roleDefinitions/${roleId}`
  return { properties: { principalId, roleDefinitionId, principalType: 'User', ...extra } }
}

export function at(scope: string, name: string = randomUUID()): string {
  return `${scope}/${authorization}/roleAssignments/${name}`
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, and only here.
export function json(outcome: Outcome): any {
  return JSON.parse(JSON.stringify(outcome.body))
}

export async function refused(work: Promise<unknown>, code: string, status: number): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ApiError, String(error))
    assert.equal(`${error.status} ${error.code}`, `${status} ${code}`)
    return true
  })
}
