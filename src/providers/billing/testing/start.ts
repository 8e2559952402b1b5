/** Billing on a real plane and store, with a clock that tests move and callers with and without rights. */

import { randomUUID } from 'node:crypto'
import { defaultLimits } from '#kernel/limits.ts'
import { silentLog } from '#kernel/ports.ts'
import { contractWords } from '#kernel/vendor.ts'
import { createPlane, type RunningPlane } from '#plane/create-plane.ts'
import type { Outcome } from '#plane/plane.ts'
import { ask } from '#plane/testing/ask.ts'
import { testSeal } from '#plane/testing/provider-context.ts'
import type { Subject } from '#plane/testing/resource-contract.ts'
import { nobody, owner, realTimers } from '#plane/testing/start.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { resourcesProvider } from '../../resources/provider.ts'
import type { BillingLimits } from '../domain/limits.ts'
import { openMeter } from '../domain/metering/meter.ts'
import { billingMigrations } from '../domain/migrations.ts'
import { billingProvider } from '../provider.ts'

export const tenant = '22222222-2222-4333-8444-555555555555'
export const account = `/providers/Vendor.Billing/billingAccounts/${tenant}`
export const profile = `${account}/billingProfiles/default`

// An answer is looked into as far as a test goes; what is not there fails the test.
// biome-ignore lint/suspicious/noExplicitAny: answers of any shape.
export type Wire = any

export interface Started extends Subject, AsyncDisposable {
  readonly plane: RunningPlane
  readonly store: Store
  readonly clock: { now(): number; set(now: number): void }
  readonly meter: ReturnType<typeof openMeter>
  get(path: string): Promise<Wire>
  post(path: string, body?: unknown): Promise<Wire>
}

export interface StartOptions {
  readonly store?: Store
  readonly limits?: Partial<BillingLimits>
  /** Without it the first account is made at once, and nothing goes on by itself. */
  readonly background?: boolean
  readonly startAt?: number
}

export function billingStore(path = ':memory:'): Promise<Store> {
  return openSqlite({
    path,
    migrations: billingMigrations,
    words: contractWords,
    transactionRetriesMax: 5,
  })
}

export async function startBilling(options: StartOptions = {}): Promise<Started> {
  const store = options.store ?? (await billingStore())
  let now = options.startAt ?? Date.UTC(2026, 9, 15, 12)
  const clock = {
    now: () => now,
    set(to: number) {
      now = to
    },
  }
  const ids = { uuid: () => randomUUID(), secret: () => randomUUID() }
  const plane = createPlane({
    providers: (services) => [
      resourcesProvider({ tenantId: tenant, ...services }),
      billingProvider({
        words: contractWords,
        sql: store.sql,
        clock,
        ids,
        timers: realTimers,
        log: silentLog,
        sealOf: () => testSeal,
        publicUrl: () => 'http://armature.example',
        tenantId: tenant,
        services,
        printer: { make: async (_, page) => Buffer.from(JSON.stringify(page)) },
        ...(options.limits === undefined ? {} : { limits: options.limits }),
      }),
    ],
    store,
    access: { allows: ({ principal }) => principal.id === owner.id },
    words: contractWords,
    clock,
    ids,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
    scopes: 'implicit',
    timers: realTimers,
  })
  const call: Started['call'] = (method, path, body, { stranger, ...options } = {}) => {
    const as = stranger === true ? nobody : owner
    return ask(plane, method, path, body, { as, version: '2024-04-01', ...options })
  }
  // Every answer as the wire has it.
  const wire = (outcome: Outcome): Wire => ({
    ...JSON.parse(JSON.stringify(outcome.body ?? {})),
    ...(outcome.nextToken === undefined ? {} : { nextToken: outcome.nextToken }),
  })
  if (options.background === true) plane.start()
  // Disposing waits for the first round, which makes the first account.
  else await plane.registry.providers[1]?.start?.()[Symbol.asyncDispose]()
  return {
    registry: plane.registry,
    plane,
    store,
    clock,
    meter: openMeter(store.sql),
    settle: async () => {},
    call,
    get: async (path) => wire(await call('GET', path)),
    post: async (path, body) => wire(await call('POST', path, body)),
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      if (options.store === undefined) await store[Symbol.asyncDispose]()
    },
  }
}
