/**
 * When a test file of a run begins. Some may always run at once. More begin while processors are idle, since files wait
 * for other programs for most of their time (decision 0249). It knows nothing of what the files do.
 */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const stat = '/proc/stat'
/** For so long processors must have been idle. Those who wait look at different moments, so that one begins at a time. */
const lookMilliseconds = 1500
/** Of all processors together. A file uses two fifths of one. */
const idleMin = 0.25

/** Two for each processor. */
export const alwaysAtOnce = 2 * availableParallelism()
/** With three for each processor all the time, files kept each other waiting (decision 0244). */
export const atOnceWhileIdle = existsSync(stat) ? 3 * availableParallelism() : alwaysAtOnce

/** Returns when this file may begin, and notes in `folder` that it runs. */
export async function waitForRoom(
  folder: string,
  always: number,
  idleShare: () => Promise<number> = watchProcessors,
): Promise<void> {
  while (runningIn(folder) >= always && (await idleShare()) < idleMin);
  const note = join(folder, String(process.pid))
  writeFileSync(note, '')
  process.on('exit', () => rmSync(note, { force: true }))
}

async function watchProcessors(): Promise<number> {
  const before = times()
  await sleep(lookMilliseconds * (0.5 + Math.random()))
  const now = times()
  return (now.idle - before.idle) / (now.all - before.all)
}

/** One that was killed has left its note. */
function runningIn(folder: string): number {
  return readdirSync(folder).filter((pid) => existsSync(`/proc/${pid}`)).length
}

/** Of all processors since the machine started. */
function times(): { readonly idle: number; readonly all: number } {
  const [line = ''] = readFileSync(stat, 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, idle = 0, disk = 0, ...others] = line
    .split(/\s+/)
    .slice(1)
    .map(Number)
  // Those of guests are counted as those of users, too.
  const rest = others.slice(0, 3).reduce((sum, one) => sum + one, 0)
  return { idle: idle + disk, all: user + nice + system + idle + disk + rest }
}
