/**
 * A fake node: moves Pods through the states that a kubelet reports, by the programs their containers name in a
 * variable. It runs nothing.
 */

import type { Clock } from '#kernel/ports.ts'
import type { Program } from '../../contract/fixture.ts'
import { at, listAt, numberAt, parseJson, textAt } from '../../json.ts'
import type { ClusterObject, ContainerStatus, Objects } from './objects.ts'

/** The variable of a container that holds its `PlayedProgram` as JSON. */
export const programVariable = 'PLAY'

export interface PlayedProgram extends Program {
  /** Ignores the grace of a deletion, then is killed. */
  readonly stubborn?: boolean
}

interface Run {
  readonly lines: { readonly at: number; readonly text: string }[]
  readonly followers: Set<() => void>
}

export class Kubelet {
  readonly #objects: Objects
  readonly #clock: Clock
  readonly #msPerSecond: number
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #runs = new Map<string, Run>()
  #held: (() => void)[] | undefined
  #pods = 0

  /** `msPerSecond`: the real duration of a second of the fake cluster. */
  constructor(objects: Objects, clock: Clock, msPerSecond: number) {
    this.#objects = objects
    this.#clock = clock
    this.#msPerSecond = msPerSecond
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  /** A Pod was created: all its containers wait. */
  admit(pod: ClusterObject): void {
    this.#pods += 1
    const address = `10.42.0.${this.#pods % 250}`
    const waiting = (list: string, reason: string) =>
      listAt(pod.spec, list).map((each) => ({
        name: textAt(each, 'name'),
        image: textAt(each, 'image'),
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { waiting: { reason } },
        lastState: {},
      }))
    const inits = listAt(pod.spec, 'initContainers').length > 0
    pod.status = {
      phase: 'Pending',
      initContainerStatuses: waiting('initContainers', 'PodInitializing'),
      containerStatuses: waiting('containers', inits ? 'PodInitializing' : 'ContainerCreating'),
    }
    const begin = () =>
      this.#later(0.1, pod, () => {
        Object.assign(pod.status ?? {}, { podIP: address, hostIP: '192.0.2.10' })
        this.#next(pod)
      })
    if (this.#held === undefined) begin()
    else this.#held.push(begin)
  }

  /** A switch: Pods wait for a node until `release`. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const begin of held) begin()
  }

  /** The deletion of a Pod: it is gone when its containers have ended. */
  end(pod: ClusterObject, graceSeconds: number): void {
    const stubborn = statuses(pod).some(
      (each) => each.state.running !== undefined && programOf(pod, each.name).stubborn === true,
    )
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer)
        for (const each of statuses(pod)) this.#kill(pod, each, stubborn ? 137 : 143)
        this.#objects.remove('pods', pod)
      },
      (stubborn ? graceSeconds : Math.min(graceSeconds, 0.2)) * this.#msPerSecond,
    )
    this.#timers.add(timer)
  }

  /** The node evicts the Pod. */
  evict(pod: ClusterObject): void {
    for (const each of statuses(pod)) this.#kill(pod, each, 137)
    Object.assign(pod.status ?? {}, { phase: 'Failed', reason: 'Evicted' })
    this.#objects.changed('pods', pod)
  }

  run(pod: ClusterObject, name: string): Run {
    const key = `${pod.metadata.uid}/${name}`
    const run = this.#runs.get(key) ?? { lines: [], followers: new Set<() => void>() }
    this.#runs.set(key, run)
    return run
  }

  /** Starts what comes next: the first init container that has not succeeded, or all the others. */
  #next(pod: ClusterObject): void {
    const missing = this.#missingSecret(pod)
    if (missing) {
      for (const each of statuses(pod)) {
        each.state = { waiting: { reason: 'CreateContainerConfigError' } }
      }
      this.#objects.changed('pods', pod)
      return
    }
    const init = pod.status?.initContainerStatuses?.find(
      (each) => each.state.terminated?.exitCode !== 0,
    )
    if (init !== undefined) {
      this.#start(pod, init)
      return
    }
    for (const each of pod.status?.containerStatuses ?? []) this.#start(pod, each)
  }

  #start(pod: ClusterObject, status: ContainerStatus): void {
    if (/no-such/.test(status.image)) {
      status.state = { waiting: { reason: 'ImagePullBackOff' } }
      this.#objects.changed('pods', pod)
      return
    }
    const program = programOf(pod, status.name)
    status.state = { running: { startedAt: this.#objects.now() } }
    status.imageID = `sha256:${status.image}`
    status.ready = true
    if (pod.status !== undefined && !isInit(pod, status)) pod.status.phase = 'Running'
    const run = this.run(pod, status.name)
    run.lines.length = 0
    if (program.print !== undefined) run.lines.push({ at: this.#clock.now(), text: program.print })
    this.#objects.changed('pods', pod)
    for (const follower of run.followers) follower()
    const { exitCode } = program
    if (exitCode === undefined) return
    this.#later(program.afterSeconds ?? 0.1, pod, () => this.#ended(pod, status, exitCode))
  }

  #ended(pod: ClusterObject, status: ContainerStatus, exitCode: number): void {
    this.#kill(pod, status, exitCode)
    const init = isInit(pod, status)
    const policy = textAt(pod.spec, 'restartPolicy')
    if ((policy === 'Always' && !init) || (policy !== 'Never' && exitCode !== 0)) {
      status.lastState = structuredClone(status.state)
      status.state = { waiting: { reason: 'CrashLoopBackOff' } }
      this.#later(1, pod, () => {
        status.restartCount += 1
        this.#start(pod, status)
      })
    } else if (init && exitCode === 0) this.#later(0, pod, () => this.#next(pod))
    else if (init && pod.status !== undefined) pod.status.phase = 'Failed'
    else if (pod.status?.containerStatuses?.every((each) => each.state.terminated !== undefined)) {
      const failed = pod.status.containerStatuses.some((each) => each.state.terminated?.exitCode)
      pod.status.phase = failed ? 'Failed' : 'Succeeded'
    }
    this.#objects.changed('pods', pod)
  }

  #kill(pod: ClusterObject, status: ContainerStatus, exitCode: number): void {
    const startedAt = status.state.running?.startedAt
    if (startedAt === undefined) return
    const reason = exitCode === 0 ? 'Completed' : 'Error'
    const finishedAt = this.#objects.now()
    status.state = { terminated: { exitCode, reason, startedAt, finishedAt } }
    status.ready = false
    for (const follower of this.run(pod, status.name).followers) follower()
  }

  /** Whether a Secret or a key that the Pod names is missing. */
  #missingSecret(pod: ClusterObject): boolean {
    const containers = ['initContainers', 'containers'].flatMap((each) => listAt(pod.spec, each))
    const keys = [
      ...listAt(pod.spec, 'volumes').flatMap((volume) =>
        listAt(volume, 'secret', 'items').map((item) => [
          textAt(volume, 'secret', 'secretName'),
          textAt(item, 'key'),
        ]),
      ),
      ...containers
        .flatMap((each) => listAt(each, 'env'))
        .map((each) => at(each, 'valueFrom', 'secretKeyRef'))
        .filter((each) => each !== undefined)
        .map((each) => [textAt(each, 'name'), textAt(each, 'key')]),
    ]
    return keys.some(
      ([name = '', key = '']) => at(this.#objects.find('secrets', name)?.data, key) === undefined,
    )
  }

  /** Skipped when the Pod has ended by then. */
  #later(seconds: number, pod: ClusterObject, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      const here = this.#objects.find('pods', pod.metadata.name) === pod
      const ending = pod.metadata.deletionTimestamp !== undefined
      if (here && !ending && pod.status?.reason === undefined) act()
    }, seconds * this.#msPerSecond)
    this.#timers.add(timer)
  }
}

export function statuses(pod: ClusterObject): readonly ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  return [...initContainerStatuses, ...containerStatuses]
}

function isInit(pod: ClusterObject, status: ContainerStatus): boolean {
  return pod.status?.initContainerStatuses?.includes(status) === true
}

function programOf(pod: ClusterObject, name: string): PlayedProgram {
  const containers = ['initContainers', 'containers'].flatMap((each) => listAt(pod.spec, each))
  const container = containers.find((each) => textAt(each, 'name') === name)
  const variable = listAt(container, 'env').find((each) => textAt(each, 'name') === programVariable)
  const script = parseJson(textAt(variable, 'value'))
  const print = textAt(script, 'print')
  return {
    ...(print === '' ? {} : { print }),
    ...(at(script, 'exitCode') === undefined ? {} : { exitCode: numberAt(script, 'exitCode') }),
    ...(at(script, 'afterSeconds') === undefined
      ? {}
      : { afterSeconds: numberAt(script, 'afterSeconds') }),
    stubborn: at(script, 'stubborn') === true,
  }
}
