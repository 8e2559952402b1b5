/** A plane for tests: a real store, a clock that tests move, and callers with and without rights. */

import { randomBytes, randomUUID } from 'node:crypto'
import { defaultLimits, type Limits } from '#kernel/limits.ts'
import { type Log, silentLog, type Timers } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { createPlane, type PlaneOptions, type RunningPlane } from '../create-plane.ts'
import type { Provider } from '../declare/provider.ts'
import type { Method, Outcome } from '../plane.ts'
import { ask } from './ask.ts'
import { SampleEngine } from './sample-engine.ts'
import { sampleProviders } from './sample-provider.ts'

export const subscription = '11111111-2222-4333-8444-555555555555'
export const group = `/subscriptions/${subscription}/resourceGroups/rg`

export const owner: Principal = {
  id: '00000000-0000-4000-8000-000000000001',
  type: 'User',
  tenantId: '00000000-0000-4000-8000-00000000000f',
  displayName: 'owner',
  clientId: 'test',
  groups: [],
}
export const nobody: Principal = { ...owner, id: '00000000-0000-4000-8000-000000000002' }

export const realTimers: Timers = {
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds)
    return { cancel: () => clearTimeout(timer) }
  },
}

export interface TestPlane extends AsyncDisposable {
  readonly plane: RunningPlane
  readonly store: Store
  readonly engine: SampleEngine
  readonly clock: TestClock
  /** Sends one request as the edge would: locate, authorize, run. */
  call(method: Method, path: string, body?: unknown, options?: CallOptions): Promise<Outcome>
}

export interface CallOptions {
  readonly as?: Principal
  readonly version?: string
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
}

export interface StartOptions {
  readonly store?: Store
  readonly engine?: SampleEngine
  readonly scopes?: 'implicit' | 'declared'
  readonly limits?: Partial<Limits>
  readonly reconcile?: boolean
  /** Shared by planes that act as replicas. */
  readonly clock?: TestClock
  readonly timers?: Timers
  readonly heap?: PlaneOptions['heap']
  readonly log?: Log
  readonly onDenied?: PlaneOptions['onDenied']
  readonly guards?: PlaneOptions['guards']
  readonly apiVersions?: 'known' | 'nearest'
  /** Providers besides the sample provider. */
  readonly providers?: readonly Provider[]
  /** Default: the owner may do everything. */
  readonly access?: PlaneOptions['access']
}

export interface TestClock {
  now(): number
  advance(seconds: number): void
}

export function testClock(): TestClock {
  let now = Date.UTC(2026, 0, 1)
  return {
    now: () => now,
    advance(seconds) {
      now += seconds * 1000
    },
  }
}

export function memoryStore(): Promise<Store> {
  return openSqlite({
    path: ':memory:',
    migrations: [],
    words: contractWords,
    transactionRetriesMax: defaultLimits.transactionRetriesMax,
  })
}

export async function startPlane(options: StartOptions = {}): Promise<TestPlane> {
  const store = options.store ?? (await memoryStore())
  const engine = options.engine ?? new SampleEngine()
  const clock = options.clock ?? testClock()
  const plane = createPlane({
    providers: () => [...sampleProviders(engine), ...(options.providers ?? [])],
    store,
    access: options.access ?? { allows: ({ principal }) => principal.id === owner.id },
    words: contractWords,
    clock,
    ids: { uuid: randomUUID, secret: (bytes) => randomBytes(bytes).toString('base64url') },
    log: options.log ?? silentLog,
    ...(options.onDenied === undefined ? {} : { onDenied: options.onDenied }),
    ...(options.guards === undefined ? {} : { guards: options.guards }),
    limits: { ...defaultLimits, ...options.limits },
    tokenKeys: () => [new Uint8Array(32)],
    scopes: options.scopes ?? 'implicit',
    ...(options.apiVersions === undefined ? {} : { apiVersions: options.apiVersions }),
    timers: options.timers ?? realTimers,
    ...(options.heap === undefined ? {} : { heap: options.heap }),
  })
  if (options.reconcile !== false) plane.reconciler.start()
  return {
    plane,
    store,
    engine,
    clock,
    call: (method, path, body, options = {}) =>
      ask(plane, method, path, body, { as: owner, version: '2024-01-01', ...options }),
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      if (options.store === undefined) await store[Symbol.asyncDispose]()
    },
  }
}
