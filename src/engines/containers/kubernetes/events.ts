/**
 * Converts the cluster's watch events of Pods to events of the engine. It remembers the last state of each Pod to
 * find what changed; that memory is never taken for the actual state.
 */

import { failureOfConnection } from '../answer.ts'
import { EngineError, type EngineEvent } from '../engine.ts'
import { at, type Json, listAt, numberAt, parseJson, textAt, timeAt } from '../json.ts'
import { splitLines } from '../lines.ts'
import type { KubernetesClient } from './client.ts'
import { annotationOf, isOwned, selectorOf } from './names.ts'
import { statusesOf } from './observation.ts'

const doing = 'follow the pods'

/** A server ends a watch now and then; the next one continues where it ended. */
export async function* readEvents(
  client: KubernetesClient,
  installation: string,
  signal: AbortSignal,
): AsyncIterable<EngineEvent> {
  const path = client.path('pods')
  const query = selectorOf(installation)
  try {
    // Whole pods may be longer together than an answer that is read, so the first event of each tells its starts and ends again.
    const listed = await client.json({
      method: 'GET',
      path,
      query,
      metadataOnly: true,
      doing,
      signal,
    })
    const seen: Seen = new Map()
    for (const pod of listAt(listed, 'items')) seen.set(textAt(pod, 'metadata', 'uid'), [])
    let version = textAt(listed, 'metadata', 'resourceVersion')
    yield { kind: 'ready' }
    while (!signal.aborted) {
      const response = await client.stream({
        method: 'GET',
        path,
        query: { ...query, watch: '1', allowWatchBookmarks: 'true', resourceVersion: version },
        doing,
        signal,
        silentSeconds: 0,
      })
      let count = 0
      for await (const line of splitLines(response)) {
        count += 1
        const event = parseJson(line)
        const pod = at(event, 'object')
        if (textAt(event, 'type') === 'ERROR') {
          throw new EngineError('unavailable', `${doing}: ${textAt(pod, 'message')}`)
        }
        version = textAt(pod, 'metadata', 'resourceVersion') || version
        if (!isOwned(pod, installation)) continue
        yield* changesOf(textAt(event, 'type'), seen, pod)
      }
      // A server that closes the connection without any event is not asked again and again.
      if (count === 0) throw new EngineError('unavailable', `${doing}: the server went away`)
    }
  } catch (cause) {
    if (signal.aborted) return
    throw failureOfConnection(cause, doing)
  }
}

/** The last states of the containers of each pod, by its uid. */
type Seen = Map<string, readonly Json[]>

function* changesOf(type: string, seen: Seen, pod: Json): Iterable<EngineEvent> {
  const uid = textAt(pod, 'metadata', 'uid')
  const group = annotationOf(pod, 'group')
  const before = new Map((seen.get(uid) ?? []).map((each) => [textAt(each, 'name'), each]))
  const known = seen.has(uid)
  if (type === 'DELETED') seen.delete(uid)
  else seen.set(uid, statusesOf(pod))
  const event = (what: 'created' | 'removed' | 'changed', at: number) =>
    ({ kind: 'part', group, part: undefined, what, at }) as const
  const made = timeAt(pod, 'metadata', 'creationTimestamp') ?? 0
  if (!known && type !== 'DELETED') yield event('created', made)
  let latest = made
  for (const status of statusesOf(pod)) {
    for (const change of partChanges(group, before.get(textAt(status, 'name')), status)) {
      latest = Math.max(latest, change.at)
      yield change
    }
  }
  if (type === 'DELETED') {
    yield event('removed', timeAt(pod, 'metadata', 'deletionTimestamp') ?? latest)
  }
  // The phase, the address or the deletion has changed.
  else if (known) yield event('changed', latest)
}

type PartEvent = Extract<EngineEvent, { kind: 'part' }>

/** Starts and ends between two states. The end may already be that of the run before the current one. */
function* partChanges(group: string, before: Json, after: Json): Iterable<PartEvent> {
  const part = textAt(after, 'name')
  const startOf = (status: Json) =>
    timeAt(status, 'state', 'running', 'startedAt') ??
    timeAt(status, 'state', 'terminated', 'startedAt')
  const endOf = (status: Json) =>
    at(status, 'state', 'terminated') ?? at(status, 'lastState', 'terminated')
  const started = startOf(after)
  const ended = endOf(after)
  const restarted = numberAt(after, 'restartCount') > numberAt(before, 'restartCount')
  const finishedAt = timeAt(ended, 'finishedAt')
  const died =
    finishedAt !== undefined &&
    (endOf(before) === undefined || timeAt(endOf(before), 'finishedAt') !== finishedAt || restarted)
  if (started !== undefined && (startOf(before) === undefined || restarted)) {
    yield { kind: 'part', group, part, what: 'started', at: started }
  }
  if (died) {
    const exitCode = numberAt(ended, 'exitCode')
    yield { kind: 'part', group, part, what: 'died', at: finishedAt, exitCode }
  }
}
