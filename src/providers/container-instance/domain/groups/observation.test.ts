/** Observations merged into memory: what is remembered, counted and limited. Without news there is no cost. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ContainerState, ObservedContainer } from '#engines/containers/engine.ts'
import { addEvent, type GroupEvent } from './events.ts'
import { type Look, type Observed, reduceObservations, type Seen } from './observation.ts'

const base: Omit<Look, 'seen'> = {
  generation: 1,
  hash: 'h',
  restart: 'always',
  stopping: false,
  parts: [{ name: 'web', init: false, image: 'i' }],
  trouble: undefined,
  runsPrograms: true,
  exitCodeAt: () => undefined,
  verdict: () => undefined,
  now: 10_000,
  eventsMax: 25,
}

function seen(state?: ContainerState, more: Partial<ObservedContainer> = {}): Seen {
  const part = { name: 'web', hash: 'h', restartCount: 0, imageId: 'i', ...more }
  return {
    empty: state === undefined,
    sandbox: state === undefined ? 'none' : 'up',
    ...(state === undefined ? {} : { hash: 'h' }),
    parts: state === undefined ? [] : [{ ...part, state }],
    published: [],
    imagesMissing: [],
  }
}

const look = (what: Seen, over: Partial<Look> = {}): Look => ({ ...base, seen: what, ...over })
const running = (startedAt: number): ContainerState => ({ kind: 'running', startedAt })
const ended = (exitCode: number, startedAt: number, finishedAt: number): ContainerState => ({
  kind: 'terminated',
  exitCode,
  startedAt,
  finishedAt,
  reason: exitCode === 0 ? 'Completed' : 'Error',
})

const names = (one: Observed): readonly string[] =>
  (one.parts['web']?.events ?? []).map(({ name }) => name)

describe('reduceObservations', () => {
  test('the same look again is the same memory, whatever the time', () => {
    let last: Observed | undefined
    for (const state of [undefined, { kind: 'created' } as const, running(5), ended(3, 5, 9)]) {
      last = reduceObservations(last, look(seen(state)))
      assert.equal(
        JSON.stringify(reduceObservations(last, look(seen(state), { now: 99_999 }))),
        JSON.stringify(last),
      )
    }
  })

  test('a restart reported by the engine: counted once, the code of the run before from its events', () => {
    const first = reduceObservations(undefined, look(seen(running(5000))))
    const again = reduceObservations(
      first,
      look(seen(running(8000), { restartCount: 1, previous: { finishedAt: 7000 } }), {
        exitCodeAt: (_part, at) => (at === 7000 ? 9 : undefined),
      }),
    )
    assert.equal(again.parts['web']?.restartCount, 1)
    assert.deepEqual(again.parts['web']?.previous, {
      startedAt: 5000,
      finishedAt: 7000,
      exitCode: 9,
    })
    assert.deepEqual(names(again), ['Created', 'Started'])
    assert.equal(again.parts['web']?.events[1]?.count, 2)
  })

  test('a restart the engine does not count is counted here', () => {
    const first = reduceObservations(undefined, look(seen(running(5000))))
    const again = reduceObservations(first, look(seen(running(8000))))
    assert.equal(again.parts['web']?.restartCount, 1)
  })

  test('another hash starts anew; what ended stays known when the engine forgets it', () => {
    const first = reduceObservations(undefined, look(seen(ended(3, 5, 9)), { restart: 'never' }))
    assert.equal(first.finished, 'h')
    const gone = reduceObservations(first, look(seen(), { restart: 'never' }))
    assert.equal(gone.finished, 'h')
    assert.equal(gone.lost, undefined)
    assert.equal(gone.parts['web']?.state.kind, 'terminated')
    const other = reduceObservations(gone, look(seen(), { hash: 'other', restart: 'never' }))
    assert.equal(other.finished, undefined)
    assert.equal(other.parts['web']?.state.kind, 'absent')
    assert.deepEqual(names(other), [])
  })

  test('lost with Never is reported; stopping is no loss', () => {
    const first = reduceObservations(undefined, look(seen(running(5)), { restart: 'never' }))
    assert.equal(reduceObservations(first, look(seen(), { restart: 'never' })).lost, 'h')
    assert.equal(
      reduceObservations(first, look(seen(), { restart: 'never', stopping: true })).lost,
      undefined,
    )
    assert.equal(reduceObservations(first, look(seen())).lost, undefined)
  })

  test('a failed step is kept until the next request of the user', () => {
    const trouble = {
      code: 'RegistryErrorResponse' as const,
      message: 'm',
      retry: 'later' as const,
      step: 'pull i',
      generation: 1,
      count: 1,
      firstAt: 1,
      at: 1,
    }
    const first = reduceObservations(undefined, look(seen(), { trouble }))
    assert.equal(first.events[0]?.message, 'm')
    assert.equal(reduceObservations(first, look(seen())).trouble?.count, 1)
    assert.equal(reduceObservations(first, look(seen(), { generation: 2 })).trouble, undefined)
    const twice = reduceObservations(
      first,
      look(seen(), { trouble: { ...trouble, count: 2, at: 2 } }),
    )
    assert.deepEqual(
      twice.events.map(({ count }) => count),
      [2],
    )
  })

  test('events are bounded, the newest kept', () => {
    let events: readonly GroupEvent[] = []
    for (let at = 0; at < 100; at++) {
      events = addEvent(events, { name: 'n', message: `m${at}`, type: 'Normal', at }, 25)
    }
    assert.equal(events.length, 25)
    assert.equal(events.at(-1)?.message, 'm99')
  })
})
