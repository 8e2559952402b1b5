/** Service health on a real plane and store, with a clock that tests move. */

import { defaultLimits } from '#kernel/limits.ts'
import { silentLog } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { contractWords } from '#kernel/vendor.ts'
import type { Access } from '#plane/access.ts'
import { createPlane, type RunningPlane } from '#plane/create-plane.ts'
import type { Provider } from '#plane/declare/provider.ts'
import type { Method, Outcome } from '#plane/plane.ts'
import { ask } from '#plane/testing/ask.ts'
import { realIds, testSeal } from '#plane/testing/provider-context.ts'
import { owner, realTimers } from '#plane/testing/start.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { resourcesProvider } from '../../resources/provider.ts'
import { secretsProvider } from '../../secrets/provider.ts'
import type { Observers } from '../domain/availability-check.ts'
import type { Probe } from '../domain/background.ts'
import { healthMigrations } from '../domain/migrations.ts'
import { resourceHealthProvider } from '../provider.ts'

export const subscriptionId = '11111111-2222-4333-8444-555555555555'
export const otherSubscriptionId = '99999999-2222-4333-8444-555555555555'
export const subscription = `/subscriptions/${subscriptionId}`
export const events = '/providers/Vendor.ResourceHealth/events'

// An answer is looked into as far as a test goes; what is not there fails the test.
// biome-ignore lint/suspicious/noExplicitAny: answers of any shape.
export type Wire = any

export interface Started extends AsyncDisposable {
  readonly plane: RunningPlane
  readonly store: Store
  readonly clock: { now(): number; set(now: number): void; pass(milliseconds: number): void }
  call(method: Method, path: string, body?: unknown, as?: Principal): Promise<Outcome>
  get(path: string, as?: Principal): Promise<Wire>
  post(path: string, body?: unknown, as?: Principal): Promise<Wire>
  /** Every item of a list, following its links. */
  all(path: string): Promise<readonly Wire[]>
}

export interface StartOptions {
  readonly store?: Store
  readonly access?: Access
  readonly probes?: readonly Probe[]
  readonly observers?: Observers
  readonly background?: boolean
}

export function healthStore(path = ':memory:'): Promise<Store> {
  return openSqlite({
    path,
    migrations: healthMigrations,
    words: contractWords,
    transactionRetriesMax: 5,
  })
}

export const firstMoment = Date.UTC(2026, 9, 15, 12)

export async function startHealth(options: StartOptions = {}): Promise<Started> {
  const store = options.store ?? (await healthStore())
  let now = firstMoment
  const clock: Started['clock'] = {
    now: () => now,
    set(to) {
      now = to
    },
    pass(milliseconds) {
      now += milliseconds
    },
  }
  const plane = createPlane({
    providers: (services) => {
      const served: readonly Provider[] = [
        resourcesProvider({ tenantId: owner.tenantId, ...services }),
        secretsProvider({ seal: testSeal, ids: realIds }),
        resourceHealthProvider({
          words: contractWords,
          tenantId: owner.tenantId,
          sql: store.sql,
          clock,
          ids: realIds,
          timers: realTimers,
          log: silentLog,
          services,
          probes: options.probes ?? [],
          observers: options.observers ?? {},
          served: () => served,
        }),
      ]
      return served
    },
    store,
    access: options.access ?? { allows: () => true },
    words: contractWords,
    clock,
    ids: realIds,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
    scopes: 'implicit',
    timers: realTimers,
  })
  if (options.background === true) plane.start()
  const call: Started['call'] = (method, path, body, as = owner) => {
    const version = path.includes('Vendor.ResourceHealth') ? '2025-05-01' : '2026-01-01'
    return ask(plane, method, path, body, { as, version })
  }
  // Lists need existing subscriptions.
  for (const id of [subscriptionId, otherSubscriptionId]) {
    await call('PUT', `/subscriptions/${id}/resourceGroups/base?api-version=2021-04-01`, {
      location: 'westus',
    })
  }
  const wire = (outcome: Outcome): Wire => ({
    ...JSON.parse(JSON.stringify(outcome.body ?? {})),
    ...(outcome.nextToken === undefined ? {} : { nextToken: outcome.nextToken }),
  })
  return {
    plane,
    store,
    clock,
    call,
    get: async (path, as) => wire(await call('GET', path, undefined, as)),
    post: async (path, body, as) => wire(await call('POST', path, body, as)),
    async all(path) {
      const items: Wire[] = []
      const url = new URL(path, 'http://plane')
      let token: string | undefined
      do {
        if (token !== undefined) url.searchParams.set('$skipToken', token)
        const page: Wire = wire(await call('GET', `${url.pathname}${url.search}`))
        items.push(...page.value)
        token = page.nextToken
      } while (token !== undefined)
      return items
    },
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      if (options.store === undefined) await store[Symbol.asyncDispose]()
    },
  }
}
