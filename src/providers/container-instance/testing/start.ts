/** Container groups on a real plane, for tests: SQLite in memory, real scopes, a given or simulated engine. */

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContainerEngine } from '#engines/containers/engine.ts'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { silentLog } from '#kernel/ports.ts'
import { contractWords } from '#kernel/vendor.ts'
import { createPlane, type RunningPlane } from '#plane/create-plane.ts'
import type { Method, Outcome } from '#plane/plane.ts'
import { ask } from '#plane/testing/ask.ts'
import { memoryWorkloads, testSeal } from '#plane/testing/provider-context.ts'
import type { Subject, SubjectOptions } from '#plane/testing/resource-contract.ts'
import { memoryStore, nobody, owner, realTimers } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { insightsProvider } from '../../insights/provider.ts'
import { resourcesProvider } from '../../resources/provider.ts'
import type { ContainerInstanceDependencies } from '../dependencies.ts'
import { GroupMetrics } from '../domain/groups/metrics.ts'
import { containerInstanceProvider } from '../provider.ts'

export const subscription = '11111111-2222-4333-8444-555555555555'
export const base = `/subscriptions/${subscription}/resourceGroups/rg/providers/Vendor.ContainerInstance`
export const version = '2025-09-01'

export type Wire = Record<string, unknown>

export interface Started extends Subject, AsyncDisposable {
  readonly plane: RunningPlane
  readonly store: Store
  readonly engine: ContainerEngine
  /** Measures when it is told to. */
  readonly metrics: GroupMetrics
  readonly clock: { now(): number; advance(seconds: number): void }
  call(method: Method, path: string, body?: unknown, options?: SubjectOptions): Promise<Outcome>
  /** GETs a group until `ready` holds of it. */
  until(name: string, ready: (group: Shown) => boolean): Promise<Shown>
  /** Ends like a killed process: nothing is closed in order. */
  kill(): Promise<void>
}

/** The part of a group's answer that tests read. */
export interface Shown {
  readonly etag?: string
  readonly tags: Wire
  readonly location: string
  readonly identity?: Wire
  readonly properties: Wire & {
    readonly provisioningState: string
    readonly containers: readonly ShownContainer[]
    readonly initContainers?: readonly ShownContainer[]
    readonly instanceView: { readonly state: string; readonly events: readonly ShownEvent[] }
    readonly ipAddress?: Wire
    readonly volumes?: readonly Wire[]
  }
}

export interface ShownContainer {
  readonly name: string
  readonly properties: Wire & {
    readonly instanceView?: {
      readonly restartCount: number
      readonly currentState: Wire & { readonly state: string }
      readonly previousState?: Wire
      readonly events: readonly ShownEvent[]
    }
  }
}

export interface ShownEvent {
  readonly name: string
  readonly message: string
  readonly count: number
  readonly type: string
  readonly firstTimestamp: string
  readonly lastTimestamp: string
}

export interface StartOptions extends Partial<Omit<ContainerInstanceDependencies, 'engine'>> {
  readonly store?: Store
  readonly engine?: (clock: { now(): number }) => ContainerEngine
  /** The folder of the simulated engine; a new one, removed at the end, when left out. */
  readonly folder?: string
  /** A clock that stands still until it is moved, instead of the real one. */
  readonly movedClock?: { now(): number; advance(seconds: number): void }
  readonly reconcile?: boolean
}

const looksMax = 2000

export async function startContainers(options: StartOptions = {}): Promise<Started> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'armature-groups-'))
  const store = options.store ?? (await memoryStore())
  let skew = 0
  const clock = options.movedClock ?? {
    now: () => Date.now() + skew,
    advance: (seconds: number) => {
      skew += seconds * 1000
    },
  }
  const engine =
    options.engine?.(clock) ??
    new SimulatedEngine({ folder, installation: 'test', clock, timers: realTimers })
  const metrics = new GroupMetrics({ engine, clock, timers: realTimers })
  const plane = createPlane({
    providers: (services) => [
      resourcesProvider({ tenantId: owner.tenantId, ...services }),
      insightsProvider({
        words: contractWords,
        tenantId: owner.tenantId,
        sql: store.sql,
        metricSources: { 'containerinstance/containergroups': metrics },
      }),
      containerInstanceProvider({
        reader: services.reader,
        seal: testSeal,
        clock,
        ids,
        timers: realTimers,
        log: silentLog,
        tenantId: owner.tenantId,
        workloads: memoryWorkloads(),
        shareRoot: join(folder, 'shares'),
        ...options,
        engine,
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
  if (options.reconcile !== false) plane.reconciler.start()
  const call: Started['call'] = (method, path, body, { stranger, ...options } = {}) => {
    const as = stranger === true ? nobody : owner
    return ask(plane, method, path, body, { as, version, ...options })
  }
  let closed = false
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    await plane[Symbol.asyncDispose]()
    await engine[Symbol.asyncDispose]()
  }
  return {
    registry: plane.registry,
    plane,
    store,
    engine,
    metrics,
    clock,
    call,
    settle: () => plane.reconciler.idle(),
    async until(name, ready) {
      let shown: Shown | undefined
      for (let looks = 0; looks < looksMax; looks++) {
        // The answer of a group.
        shown = (await call('GET', `${base}/containerGroups/${name}`)).body as unknown as Shown
        if (ready(shown)) return shown
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      throw new Error(`never came: ${JSON.stringify(shown)}`)
    },
    kill: close,
    async [Symbol.asyncDispose]() {
      await close()
      if (options.store === undefined) await store[Symbol.asyncDispose]()
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const ids = {
  uuid: () => randomUUID(),
  secret: (bytes: number) => randomBytes(bytes).toString('base64url'),
}

/** A small valid group. */
export function body(containers: readonly object[] = [web()], properties: object = {}): object {
  return { location: 'here', properties: { containers, ...properties } }
}

/** `script` controls the simulated engine (`ARMATURE_SIMULATE`). */
export function web(script = '', name = 'web', properties: object = {}): object {
  return {
    name,
    properties: {
      image: 'registry.example/web:1',
      ...(script === ''
        ? {}
        : { environmentVariables: [{ name: 'ARMATURE_SIMULATE', value: script }] }),
      ...properties,
    },
  }
}
