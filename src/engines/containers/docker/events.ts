/** The engine's event stream. The engine keeps no events, so a lost connection is an error. */

import { failureOfConnection } from '../answer.ts'
import { EngineError, type EngineEvent } from '../engine.ts'
import { type Json, numberAt, parseJson, textAt } from '../json.ts'
import { splitLines } from '../lines.ts'
import type { DockerClient } from './client.ts'

const what = {
  create: 'created',
  start: 'started',
  die: 'died',
  destroy: 'removed',
  remove: 'removed',
  oom: 'changed',
  pause: 'changed',
  unpause: 'changed',
} as const

export async function* readEvents(
  client: DockerClient,
  installation: string,
  signal: AbortSignal,
): AsyncIterable<EngineEvent> {
  const doing = 'follow the events'
  try {
    const response = await client.stream({
      kind: 'stream',
      method: 'GET',
      path: '/events',
      query: {
        filters: JSON.stringify({
          label: [`armature.installation=${installation}`],
          type: ['container'],
        }),
      },
      doing,
      silentSeconds: 0,
      signal,
    })
    yield { kind: 'ready' }
    for await (const line of splitLines(response)) {
      const event = readEvent(parseJson(line))
      if (event !== undefined) yield event
    }
  } catch (cause) {
    if (signal.aborted) return
    throw failureOfConnection(cause, doing)
  }
  if (!signal.aborted) throw new EngineError('unavailable', `${doing}: the engine went away`)
}

function readEvent(event: Json): EngineEvent | undefined {
  const action = textAt(event, 'Action') || textAt(event, 'status')
  if (!Object.hasOwn(what, action)) return undefined
  const attribute = (name: string) => textAt(event, 'Actor', 'Attributes', name)
  // Podman uses another name.
  const code = attribute('exitCode') || attribute('containerExitCode')
  return {
    kind: 'part',
    group: attribute('armature.group'),
    part: attribute('armature.part') || undefined,
    // `Object.hasOwn` above proves the key.
    what: what[action as keyof typeof what],
    at: Math.floor(numberAt(event, 'timeNano') / 1e6),
    ...(action === 'die' && /^\d+$/.test(code) ? { exitCode: Number(code) } : {}),
  }
}
