/** Long logs are streamed as JSON: only their last part, with whole characters and escapes. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ContainerEngine, EngineError } from '#engines/containers/engine.ts'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { ask } from '#plane/testing/ask.ts'
import { nobody, realTimers } from '#plane/testing/start.ts'
import { until } from '../../../../../../tests/until.ts'
import { base, body, startContainers, version } from '../../../testing/start.ts'

const path = `${base}/containerGroups/one/containers/web/logs`

/** A simulated engine whose containers have written these parts. */
function writing(
  engine: ContainerEngine,
  pieces: () => Iterable<string | Uint8Array>,
): ContainerEngine {
  return withLogs(engine, async function* () {
    for (const piece of pieces()) yield Buffer.from(piece)
  })
}

function withLogs(engine: ContainerEngine, logs: () => AsyncIterable<Uint8Array>): ContainerEngine {
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'logs') return logs
      // Methods of the engine, bound to it since it has private members.
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

async function contentOf(
  pieces: () => Iterable<string | Uint8Array>,
  logBytesMax: number,
): Promise<{ content: string; streamed: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), 'armature-logs-'))
  try {
    await using started = await startContainers({
      reconcile: false,
      folder,
      limits: { logBytesMax },
      engine: (clock) =>
        writing(
          new SimulatedEngine({ folder, installation: 't', clock, timers: realTimers }),
          pieces,
        ),
    })
    await started.call('PUT', `${base}/containerGroups/one`, body())
    const answer = await started.call('GET', path)
    const given = answer.body
    assert.ok(typeof given === 'object')
    if (!(Symbol.asyncIterator in given)) {
      // The short answer of `logs`.
      return { content: (given as { content: string }).content, streamed: false }
    }
    const all: Uint8Array[] = []
    // The stream of an answer consists of bytes.
    for await (const piece of given as AsyncIterable<Uint8Array>) all.push(piece)
    const parsed = JSON.parse(Buffer.concat(all).toString('utf8')) as { content: string }
    return { content: parsed.content, streamed: true }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('a short log is answered as it is', async () => {
  const { content, streamed } = await contentOf(() => ['one "quoted"\n', 'two €\n'], 1000)
  assert.deepEqual([content, streamed], ['one "quoted"\ntwo €\n', false])
})

test('a long log: the last so many bytes, characters split between chunks kept whole', async () => {
  const line = Buffer.from('naïve "€" \\ line\n')
  const lines = 40_000
  const whole = Buffer.concat(Array.from({ length: lines }, () => line))
  const cut = function* () {
    for (let at = 0; at < whole.length; at += 1001) yield whole.subarray(at, at + 1001)
  }
  const most = line.length * 1000
  const { content, streamed } = await contentOf(cut, most)
  assert.ok(streamed)
  assert.equal(content, whole.subarray(whole.length - most).toString('utf8'))
})

test('a container that was never made has no log yet', async () => {
  await assert.rejects(
    contentOf(() => {
      throw new EngineError('absent', 'there is no container')
    }, 10),
    { status: 409, code: 'ContainerLogNotAvailable' },
  )
})

test('a principal has two logs read at once, and others do not wait for them', async () => {
  const opened: PromiseWithResolvers<void>[] = []
  let most = 0
  let open = 0
  const slow = (engine: ContainerEngine): ContainerEngine =>
    withLogs(engine, async function* () {
      const ended = Promise.withResolvers<void>()
      opened.push(ended)
      most = Math.max(most, ++open)
      await ended.promise
      open--
      yield Buffer.from('line\n')
    })
  const folder = mkdtempSync(join(tmpdir(), 'armature-logs-'))
  try {
    await using started = await startContainers({
      reconcile: false,
      folder,
      engine: (clock) =>
        slow(new SimulatedEngine({ folder, installation: 't', clock, timers: realTimers })),
    })
    await started.call('PUT', `${base}/containerGroups/one`, body())
    const own = Array.from({ length: 5 }, () => started.call('GET', path))
    await until(() => opened.length >= 2)
    const another = ask(started.plane, 'GET', path, undefined, {
      as: nobody,
      version,
      isUnasked: true,
    })
    await until(() => opened.length >= 3)
    for (let at = 0; at < own.length + 1; at++) {
      await until(() => opened.length > at)
      opened[at]?.resolve()
    }
    assert.equal((await another).status, 200)
    for (const { status } of await Promise.all(own)) assert.equal(status, 200)
    assert.equal(most, 3)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
