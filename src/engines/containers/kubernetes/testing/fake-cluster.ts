/** A fake cluster with an engine, for one test; closed when the test ends. */

import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerSpec, GroupSpec, ObservedGroup } from '../../engine.ts'
import { KubernetesEngine, type KubernetesEngineOptions } from '../kubernetes-engine.ts'
import { namesOf } from '../names.ts'
import { ApiDouble, type RecordedCall } from './api-double.ts'
import { type PlayedProgram, programVariable } from './kubelet.ts'
import type { ClusterObject } from './objects.ts'

/** The fake cluster's clock runs this many times as fast as the real one. */
const speed = 20
const looksMax = 500

interface FakeCluster {
  readonly double: ApiDouble
  readonly engine: KubernetesEngine
  open(options: Partial<KubernetesEngineOptions>): KubernetesEngine
  until(group: string, ready: (observed: ObservedGroup) => boolean): Promise<ObservedGroup>
  /** The changing requests since the last call. */
  changes(): readonly Pick<RecordedCall, 'method' | 'path' | 'body'>[]
  pod(group: string): ClusterObject
}

export async function openFakeCluster(t: TestContext): Promise<FakeCluster> {
  const begin = performance.now()
  const clock = { now: () => 1_000_000_000_000 + (performance.now() - begin) * speed }
  const double = await ApiDouble.open(clock, 1000 / speed)
  const open = (options: Partial<KubernetesEngineOptions>) =>
    new KubernetesEngine({ target: double.target, installation: 'one', ...options })
  const engine = open({})
  t.after(async () => {
    await engine[Symbol.asyncDispose]()
    await double[Symbol.asyncDispose]()
  })
  return {
    double,
    engine,
    open,
    async until(group, ready) {
      for (let looks = 0; looks < looksMax; looks++) {
        const observed = await engine.observe(group)
        if (ready(observed)) return observed
        await sleep(10)
      }
      throw new Error(`never came: ${JSON.stringify(await engine.observe(group))}`)
    },
    changes: () =>
      double.calls
        .splice(0)
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path, body }) => ({ method, path, body })),
    pod: (group) => double.objects.get('pods', namesOf('one', group).name),
  }
}

export function part(
  name: string,
  program: PlayedProgram = {},
  more: Partial<ContainerSpec> = {},
): ContainerSpec {
  return {
    name,
    init: false,
    image: 'example/web:1',
    environment: [{ name: programVariable, value: JSON.stringify(program) }],
    mounts: [],
    limits: {},
    ...more,
  }
}

export function spec(parts: readonly ContainerSpec[], more: Partial<GroupSpec> = {}): GroupSpec {
  return { hash: 'h1', restart: 'never', parts, volumes: [], ports: [], ...more }
}
