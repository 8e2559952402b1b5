/** The machine of the figures: the processor, the system, and the cost of a flush to disk. */

import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import type { Machine } from './results.ts'
import { median } from './statistics.ts'

export function describeMachine(pinned: boolean, folder: string): Machine {
  const all = cpus()
  return {
    processor: all[0]?.model.trim() ?? 'unknown',
    processors: all.length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
    pinned,
    flushMilliseconds: measureFlush(folder),
  }
}

function measureFlush(folder: string): number {
  const path = join(folder, 'flush-probe')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(4096, 7)
  const samples: number[] = []
  for (let write = 0; write < 64; write++) {
    const startedAt = performance.now()
    writeSync(file, block, 0, block.length, write * block.length)
    fdatasyncSync(file)
    samples.push(performance.now() - startedAt)
  }
  closeSync(file)
  rmSync(path)
  return median(samples) ?? 0
}
