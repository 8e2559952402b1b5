/** Reads a group's state from a Docker API's inspections of its containers. Pure. */

import type { ContainerState, ObservedContainer, ObservedGroup } from '../engine.ts'
import { at, booleanAt, entriesAt, type Json, listAt, numberAt, textAt, timeAt } from '../json.ts'

/** `containers` are inspections; the sandbox is the one without a part's label. */
export function readGroup(
  containers: readonly Json[],
  holdsVolumes: boolean,
  imagesPresent: ReadonlySet<string>,
): ObservedGroup {
  const sandbox = containers.find((each) => labelOf(each, 'part') === undefined)
  const parts = containers
    .filter((each) => labelOf(each, 'part') !== undefined)
    .sort((a, b) => Number(labelOf(a, 'order')) - Number(labelOf(b, 'order')))
  return {
    empty: containers.length === 0 && !holdsVolumes,
    hash: sandbox === undefined ? undefined : labelOf(sandbox, 'hash'),
    sandbox: sandboxState(sandbox),
    parts: parts.map(readPart),
    address: addressOf(sandbox),
    published: publishedOf(sandbox),
    imagesPresent,
  }
}

export function labelOf(container: Json, name: string): string | undefined {
  return textAt(container, 'Config', 'Labels', `armature.${name}`) || undefined
}

/**
 * A sandbox that has ended once is down for good even if it runs again: an engine may restart it because a part
 * needs it, but the files it held in memory are gone.
 */
function sandboxState(sandbox: Json): ObservedGroup['sandbox'] {
  if (sandbox === undefined) return 'none'
  if (timeAt(sandbox, 'State', 'FinishedAt') !== undefined) return 'down'
  if (booleanAt(sandbox, 'State', 'Running')) return 'up'
  return textAt(sandbox, 'State', 'Status') === 'exited' ? 'down' : 'none'
}

function readPart(container: Json): ObservedContainer {
  const restartCount = numberAt(container, 'RestartCount')
  const finishedAt = timeAt(container, 'State', 'FinishedAt')
  const state = readState(container)
  // While a container runs, an engine keeps the time of the last end, and an exit code of 0 without meaning (facts
  // B.2). The stored start is of the current run, unless the container waits for a restart.
  const previous =
    state.kind === 'terminated' || finishedAt === undefined
      ? undefined
      : state.kind === 'waiting'
        ? {
            ...startBefore(container, finishedAt),
            exitCode: numberAt(container, 'State', 'ExitCode'),
          }
        : { finishedAt }
  return {
    name: labelOf(container, 'part') ?? '',
    hash: labelOf(container, 'hash') ?? '',
    state,
    restartCount,
    ...(previous === undefined ? {} : { previous }),
    imageId: textAt(container, 'Image'),
  }
}

function startBefore(
  container: Json,
  finishedAt: number,
): { readonly startedAt?: number; readonly finishedAt: number } {
  const startedAt = timeAt(container, 'State', 'StartedAt')
  return startedAt === undefined || startedAt > finishedAt
    ? { finishedAt }
    : { startedAt, finishedAt }
}

/** Signal 9, as a shell reports it. */
const killedCode = 137

/** `stopped` is Podman's state before it has cleaned up. */
const ended = new Set(['exited', 'stopped', 'dead'])

function readState(container: Json): ContainerState {
  const state = at(container, 'State')
  const startedAt = timeAt(state, 'StartedAt')
  const exitCode = numberAt(state, 'ExitCode')
  if (booleanAt(state, 'Restarting')) return { kind: 'waiting', reason: 'Restarting' }
  if (booleanAt(state, 'Running')) return { kind: 'running', startedAt: startedAt ?? 0 }
  const finishedAt = timeAt(state, 'FinishedAt')
  if (startedAt === undefined) {
    // Docker keeps the failure of a start; Podman leaves the container as created.
    return textAt(state, 'Error') === ''
      ? { kind: 'created' }
      : {
          kind: 'terminated',
          exitCode,
          startedAt: finishedAt ?? 0,
          finishedAt: finishedAt ?? 0,
          reason: 'CannotStart',
        }
  }
  // An intermediate state: being started, paused, being removed.
  const status = textAt(state, 'Status')
  if (!ended.has(status)) return { kind: 'waiting', reason: status }
  const limited = numberAt(container, 'HostConfig', 'Memory') > 0
  const reason =
    exitCode === 0
      ? 'Completed'
      : booleanAt(state, 'OOMKilled') || (exitCode === killedCode && limited)
        ? 'OutOfMemory'
        : 'Error'
  return {
    kind: 'terminated',
    exitCode,
    startedAt,
    // Podman uses two clocks that differ slightly, so a short run can seem to end before it began.
    finishedAt: Math.max(startedAt, finishedAt ?? 0),
    reason,
  }
}

/** The address on the network itself; older engines also report one for all networks. */
function addressOf(sandbox: Json): string | undefined {
  const networks = entriesAt(sandbox, 'NetworkSettings', 'Networks')
  const address = networks.map(([, network]) => textAt(network, 'IPAddress')).find(Boolean)
  return address ?? (textAt(sandbox, 'NetworkSettings', 'IPAddress') || undefined)
}

function publishedOf(sandbox: Json): ObservedGroup['published'] {
  return entriesAt(sandbox, 'NetworkSettings', 'Ports').flatMap(([key, bindings]) => {
    const [port, protocol] = key.split('/')
    return listAt(bindings).map((binding) => ({
      port: Number(port),
      protocol: protocol === 'udp' ? ('udp' as const) : ('tcp' as const),
      address: textAt(binding, 'HostIp'),
      hostPort: Number(textAt(binding, 'HostPort')),
    }))
  })
}
