/** Engine events continue after the engine or the store was away for a while. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ContainerEngine, EngineError, type EngineEvent } from '#engines/containers/engine.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { followEngineEvents, KnownEnds } from './follow-events.ts'
import { GroupIndex } from './group-index.ts'

test('the events are asked for again after the store was away, and after the engine was', async () => {
  const stop = new AbortController()
  const failures = [
    new Error('PostgreSQL cannot answer'),
    new EngineError('unavailable', 'the engine is away'),
  ]
  let connections = 0
  // Replace an engine and a store that fail in turn: real ones cannot be made to fail at such a moment.
  const engine = {
    async *events(): AsyncGenerator<EngineEvent> {
      connections++
      yield { kind: 'ready' } as EngineEvent
    },
  } as unknown as ContainerEngine
  const reader = {
    async *each() {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      yield* []
      stop.abort()
    },
  } as unknown as Reader
  const reasons: string[] = []
  await followEngineEvents(
    {
      engine,
      index: new GroupIndex(reader),
      ends: new KnownEnds(),
      probes: { end() {} },
      clock: { now: () => 0 },
      timers: {
        after(_, callback) {
          queueMicrotask(callback)
          return { cancel() {} }
        },
      },
      log: {
        warn: ({ reason }: { reason: string }) => void reasons.push(reason),
      } as never,
    },
    () => {},
    stop.signal,
  )
  assert.equal(connections, 3)
  assert.deepEqual(failures, [])
  assert.match(reasons[0] ?? '', /PostgreSQL cannot answer/)
})

test('a group whose containers end again and again forgets its own ends, and not those of others', () => {
  const ends = new KnownEnds()
  ends.note('quiet', 'web', 1000, 3)
  for (let part = 0; part < 3000; part++) ends.note('busy', `part${part}`, 1000, 1)
  assert.equal(ends.exitCodeAt('quiet', 'web', 1000), 3)
  assert.equal(ends.exitCodeAt('busy', 'part0', 1000), undefined)
  assert.equal(ends.exitCodeAt('busy', 'part2999', 1000), 1)
  ends.note('quiet', 'web', 9000, 4)
  assert.equal(ends.exitCodeAt('quiet', 'web', 9000), 4)
})

test('an end that is reported again and again leaves the earlier ones known', () => {
  const ends = new KnownEnds()
  ends.note('group', 'web', 1000, 3)
  for (let times = 0; times < 5; times++) ends.note('group', 'web', 9000, 4)
  assert.equal(ends.exitCodeAt('group', 'web', 1000), 3)
  assert.equal(ends.exitCodeAt('group', 'web', 9000), 4)
})
