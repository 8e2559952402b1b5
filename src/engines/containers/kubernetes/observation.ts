/**
 * Reads a group out of what a cluster tells of its Pod and its Service. Pure, and it believes no shape: what
 * is not told reads as not yet there.
 */

import type { ContainerState, ObservedContainer, ObservedGroup } from '../engine.ts'
import { at, type Json, listAt, numberAt, textAt, timeAt } from '../json.ts'
import { annotationOf } from './names.ts'

/** `service` is the Service, `held` whether anything else of the group exists. */
export function readGroup(pod: Json, service: Json, held: boolean): ObservedGroup {
  return {
    empty: pod === undefined && service === undefined && !held,
    hash: pod === undefined ? undefined : annotationOf(pod, 'hash'),
    sandbox: sandboxOf(pod),
    parts: pod === undefined ? [] : partsOf(pod),
    address: textAt(pod, 'status', 'podIP') || undefined,
    published: publishedOf(pod, service),
    // The nodes know, and pull by themselves; the namespace's rights do not allow to ask them.
    imagesPresent: new Set(),
  }
}

/** A Pod that waits for a node is `up`: only the cluster can do something about it. */
function sandboxOf(pod: Json): ObservedGroup['sandbox'] {
  if (pod === undefined) return 'none'
  return isTerminating(pod) || isLost(pod) ? 'down' : 'up'
}

export function isTerminating(pod: Json): boolean {
  return textAt(pod, 'metadata', 'deletionTimestamp') !== ''
}

/**
 * Whether the cluster has given the Pod up (evicted, its node shut down). A Pod whose containers all ended by
 * themselves is `Failed` too, but has no reason and at least one end.
 */
function isLost(pod: Json): boolean {
  if (textAt(pod, 'status', 'phase') !== 'Failed') return false
  const disrupted = listAt(pod, 'status', 'conditions').some(
    (each) => textAt(each, 'type') === 'DisruptionTarget' && textAt(each, 'status') === 'True',
  )
  const statuses = statusesOf(pod)
  const ended = statuses.some((each) => at(each, 'state', 'terminated') !== undefined)
  return textAt(pod, 'status', 'reason') !== '' || disrupted || !ended
}

export function statusesOf(pod: Json): readonly Json[] {
  return [
    ...listAt(pod, 'status', 'initContainerStatuses'),
    ...listAt(pod, 'status', 'containerStatuses'),
  ]
}

function partNamesOf(pod: Json): readonly string[] {
  return annotationOf(pod, 'parts').split(',').filter(Boolean)
}

export function partsOf(pod: Json): readonly ObservedContainer[] {
  const statuses = new Map(statusesOf(pod).map((each) => [textAt(each, 'name'), each]))
  return partNamesOf(pod).map((name) => {
    const status = statuses.get(name)
    const last = at(status, 'lastState', 'terminated')
    const finishedAt = timeAt(last, 'finishedAt')
    const startedAt = timeAt(last, 'startedAt')
    return {
      name,
      hash: annotationOf(pod, 'hash'),
      state: stateOf(status),
      restartCount: numberAt(status, 'restartCount'),
      ...(finishedAt === undefined
        ? {}
        : {
            previous: {
              ...(startedAt === undefined ? {} : { startedAt }),
              finishedAt,
              exitCode: numberAt(last, 'exitCode'),
            },
          }),
      imageId: textAt(status, 'imageID'),
    }
  })
}

/** A kubelet's reasons for containers it has not started yet. */
const notYet = new Set(['', 'ContainerCreating', 'PodInitializing'])
/** The kubelet has failed. It tries again with growing pauses, or never. */
const noImage = new Set(['ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'])
const cannotStart = new Set(['StartError', 'ContainerCannotRun'])

function stateOf(status: Json): ContainerState {
  const running = at(status, 'state', 'running')
  if (running !== undefined) {
    return { kind: 'running', startedAt: timeAt(running, 'startedAt') ?? 0 }
  }
  const ended = at(status, 'state', 'terminated')
  if (ended !== undefined) return terminated(ended)
  const reason = textAt(status, 'state', 'waiting', 'reason')
  if (numberAt(status, 'restartCount') === 0 && notYet.has(reason)) return { kind: 'created' }
  return {
    kind: 'waiting',
    reason: reason || 'Restarting',
    ...(noImage.has(reason) ? { imageMissing: true } : {}),
  }
}

function terminated(ended: Json): ContainerState {
  const exitCode = numberAt(ended, 'exitCode')
  const ending = textAt(ended, 'reason')
  const finishedAt = timeAt(ended, 'finishedAt') ?? 0
  return {
    kind: 'terminated',
    exitCode,
    startedAt: timeAt(ended, 'startedAt') ?? finishedAt,
    finishedAt,
    reason: cannotStart.has(ending)
      ? 'CannotStart'
      : ending === 'OOMKilled'
        ? 'OutOfMemory'
        : exitCode === 0
          ? 'Completed'
          : 'Error',
  }
}

/** The addresses of the Service's ports; empty until the cluster reports them. */
function publishedOf(pod: Json, service: Json): ObservedGroup['published'] {
  const balancers = listAt(service, 'status', 'loadBalancer', 'ingress')
    .map((each) => textAt(each, 'ip') || textAt(each, 'hostname'))
    .filter(Boolean)
  const onNode = textAt(service, 'spec', 'type') === 'NodePort'
  const addresses = onNode ? [textAt(pod, 'status', 'hostIP')].filter(Boolean) : balancers
  return listAt(service, 'spec', 'ports').flatMap((each) =>
    addresses.map((address) => ({
      port: numberAt(each, 'targetPort'),
      protocol: textAt(each, 'protocol') === 'UDP' ? ('udp' as const) : ('tcp' as const),
      address,
      hostPort: numberAt(each, onNode ? 'nodePort' : 'port'),
    })),
  )
}
