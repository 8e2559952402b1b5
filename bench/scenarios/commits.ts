/**
 * What it would bring to commit on a thread: writers whose requests cost the loop a fixed time each, committed by the loop
 * itself or by a thread that is sent the writes. No server; see decision 0230.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { openCommitStore, type Write } from '../commits/store.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import type { Figures } from '../harness/results.ts'
import type { FigureScenario } from '../scenario.ts'

const rows = 10_000
const writers = 32
/** What the rest of a PUT takes of the loop, in microseconds. */
const workMicroseconds = 70
/** Batches that are under way to the thread at once, so that it never waits for the loop. */
const sentMax = 2
const ways = { loop: 'commits on the loop', thread: 'commits on a thread' } as const

type Way = keyof typeof ways

interface Measured {
  readonly perSecond: number
  readonly loopMicroseconds: number
  readonly allMicroseconds: number
  readonly p50: number
  readonly p99: number
}

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'Commits on the loop and on a thread',
  about:
    `A model of the store without a server: ${writers} writers replace rows of 1.5 KB among ${rows.toLocaleString('en')} and add an audit ` +
    `record of 600 bytes; each write costs the loop ${workMicroseconds} µs besides. All that wait are committed together, and answered when they are on the disk.`,
  measure,
}

async function measure(name: string, measuring: Measuring): Promise<Figures> {
  const taken: Record<Way, Measured[]> = { loop: [], thread: [] }
  for (let round = 1; round <= measuring.rounds; round++) {
    const order: readonly Way[] = round % 2 === 0 ? ['loop', 'thread'] : ['thread', 'loop']
    for (const way of order) {
      measuring.progress(`${name}: round ${round}, ${ways[way]}`)
      const folder = join(measuring.dataFolder, `${name}-${way}-${round}`)
      mkdirSync(folder, { recursive: true })
      taken[way].push(await measureWay(way, join(folder, 'store.db'), measuring.seconds))
    }
  }
  const figures = [
    ['writes a second', 'perSecond', 0],
    ['processor time of the loop for a write, µs', 'loopMicroseconds', 1],
    ['processor time of all threads for a write, µs', 'allMicroseconds', 1],
    ['p50, ms', 'p50', 2],
    ['p99, ms', 'p99', 2],
  ] as const
  const valuesOf = (way: Way, key: keyof Measured): number[] => taken[way].map((one) => one[key])
  return {
    rows: figures.flatMap(([figure, key, digits]) =>
      (['loop', 'thread'] as const).map((way) =>
        figureRow({
          figure,
          contestant: ways[way],
          values: valuesOf(way, key),
          digits,
          to: valuesOf('loop', key),
        }),
      ),
    ),
    notes: [],
    skipped: [],
  }
}

/** Resolves when all of the batch is on the disk. */
interface Committer extends AsyncDisposable {
  readonly free: () => boolean
  commit(batch: readonly Write[]): Promise<void>
}

function committerOf(way: Way, file: string): Committer {
  const first = Array.from({ length: rows }, (_, index) => writeOf(index, 0))
  const store = openCommitStore(file, first)
  const requireHeld = (held: readonly boolean[]): void => {
    if (held.includes(false)) throw new Error('a write was lost')
  }
  if (way === 'loop') {
    return {
      free: () => true,
      commit: async (batch) => requireHeld(store.commit(batch)),
      [Symbol.asyncDispose]: async () => store[Symbol.dispose](),
    }
  }
  store[Symbol.dispose]()
  const thread = new Worker(new URL('../commits/store.ts', import.meta.url), { workerData: file })
  const sent: (() => void)[] = []
  thread.on('message', (held: readonly boolean[]) => {
    requireHeld(held)
    sent.shift()?.()
  })
  return {
    free: () => sent.length < sentMax,
    commit(batch) {
      thread.postMessage(batch)
      return new Promise<void>((resolve) => sent.push(resolve))
    },
    async [Symbol.asyncDispose]() {
      await thread.terminate()
    },
  }
}

function writeOf(index: number, version: number): Write {
  const document = JSON.stringify({ index, version, text: 'x'.repeat(1_450) })
  return { key: `key-${index}`, version, document, record: 'y'.repeat(600) }
}

async function measureWay(way: Way, file: string, seconds: number): Promise<Measured> {
  await using committer = committerOf(way, file)
  const versions = new Uint32Array(rows)
  const times: number[] = []
  let waiting: { readonly write: Write; readonly wake: () => void }[] = []
  let isOver = false
  let isScheduled = false
  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      if (waiting.length === 0 || !committer.free()) return
      const batch = waiting
      waiting = []
      void committer.commit(batch.map(({ write }) => write)).then(() => {
        // The next batch is on its way before those of the last one go on.
        if (waiting.length > 0) schedule()
        for (const { wake } of batch) wake()
      })
    })
  }
  const write = async (): Promise<void> => {
    while (!isOver) {
      const began = performance.now()
      work(workMicroseconds / 2)
      const index = Math.floor(Math.random() * rows)
      const version = versions[index] ?? 0
      versions[index] = version + 1
      await new Promise<void>((wake) => {
        waiting.push({ write: writeOf(index, version), wake })
        schedule()
      })
      work(workMicroseconds / 2)
      times.push(performance.now() - began)
      await new Promise(setImmediate)
    }
  }
  const all = Promise.all(Array.from({ length: writers }, write))
  await sleep(1_000)
  times.length = 0
  const before = { loop: process.threadCpuUsage(), all: process.cpuUsage(), at: performance.now() }
  await sleep(seconds * 1_000)
  const loop = process.threadCpuUsage(before.loop)
  const every = process.cpuUsage(before.all)
  const elapsed = performance.now() - before.at
  const count = times.length
  const sorted = times.toSorted((a, b) => a - b)
  isOver = true
  await all
  return {
    perSecond: (count / elapsed) * 1_000,
    loopMicroseconds: (loop.user + loop.system) / count,
    allMicroseconds: (every.user + every.system) / count,
    p50: sorted[Math.floor(count / 2)] ?? 0,
    p99: sorted[Math.floor(count * 0.99)] ?? 0,
  }
}

/** Holds the loop, as the rest of a request does. */
function work(microseconds: number): void {
  const end = performance.now() + microseconds / 1_000
  while (performance.now() < end);
}
