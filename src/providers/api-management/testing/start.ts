/**
 * Starts the namespace on a real plane and store, with one principal who may do everything and one who may do
 * nothing.
 */

import assert from 'node:assert/strict'
import { ApiError } from '#kernel/error.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { silentLog } from '#kernel/ports.ts'
import type { WorkloadIdentities } from '#kernel/principal.ts'
import { contractWords } from '#kernel/vendor.ts'
import { createPlane } from '#plane/create-plane.ts'
import type { Method, Outcome } from '#plane/plane.ts'
import { ask } from '#plane/testing/ask.ts'
import {
  realClock,
  realIds,
  testProviderContext,
  testSeal,
} from '#plane/testing/provider-context.ts'
import type { Subject, SubjectOptions } from '#plane/testing/resource-contract.ts'
import { memoryStore, nobody, owner, realTimers } from '#plane/testing/start.ts'
import { resourcesProvider } from '../../resources/provider.ts'
import { apiManagementProvider } from '../provider.ts'
import { unasked } from './unasked.ts'

export const service =
  '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg/providers/Vendor.ApiManagement/service/one'
export const api = `${service}/apis/pets`
export const newest = '2024-05-01'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, and only here.
export type Wire = any

interface Started {
  /** An action that even the owner may not do. */
  readonly mayNot?: string
  readonly workloads?: WorkloadIdentities
}

export async function startApis({
  mayNot,
  ...given
}: Started = {}): Promise<Subject & AsyncDisposable> {
  const store = await memoryStore()
  const plane = createPlane({
    providers: (services) => [
      resourcesProvider({ tenantId: owner.tenantId, ...services }),
      apiManagementProvider({
        ...testProviderContext(store, services, given),
        seal: testSeal,
        ...unasked,
      }),
    ],
    store,
    access: {
      allows: ({ principal, action }) => principal.id === owner.id && action !== mayNot,
    },
    words: contractWords,
    clock: realClock,
    ids: realIds,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
    scopes: 'implicit',
    timers: realTimers,
  })
  plane.reconciler.start()
  return {
    registry: plane.registry,
    settle: () => plane.reconciler.idle(),
    call(method, path, body, { stranger, ...options } = {}) {
      const as = stranger === true ? nobody : owner
      return ask(plane, method, path, body, { as, version: newest, ...options })
    },
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}

/** A service with one API, and functions that read answers as JSON. */
export async function startWithApi(): Promise<
  AsyncDisposable & {
    send(method: Method, path: string, body?: unknown, options?: SubjectOptions): Promise<Outcome>
    json(method: Method, path: string, body?: unknown, options?: SubjectOptions): Promise<Wire>
  }
> {
  const started = await startApis()
  await started.call('PUT', service, {
    location: 'local',
    sku: { name: 'Developer' },
    properties: { publisherEmail: 'a@example.test', publisherName: 'A' },
  })
  await started.call('PUT', api, { properties: { path: 'pets', displayName: 'Pets' } })
  return {
    send: (method, path, body, options) => started.call(method, path, body, options),
    async json(method, path, body, options) {
      const { body: answer } = await started.call(method, path, body, options)
      return answer === undefined ? undefined : JSON.parse(JSON.stringify(answer))
    },
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  }
}

/** Expects a refusal; returns the paths and messages of its details. */
export async function problemsOf(work: Promise<unknown>): Promise<readonly string[]> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ApiError, `expected a refusal, got ${String(error)}`)
  assert.equal(`${error.status} ${error.code}`, '400 ValidationError')
  for (const { code } of error.extra.details ?? []) assert.equal(code, 'ValidationError')
  return (error.extra.details ?? []).map(({ target }) => target ?? '')
}
