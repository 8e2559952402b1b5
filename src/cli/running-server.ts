/** The server of this home as a process: whether it lives and answers, and its output while detached. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LocalProblem, UsageError } from './command.ts'
import type { Home, RunningFile } from './home.ts'

const everyMilliseconds = 50

/** The log file of `serve --detach`. */
export function logFileOf(home: Home): string {
  return join(home.folder, 'server.log')
}

export function isAlive(pid: number): boolean {
  try {
    // Signal 0 only checks.
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user is alive, too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Returns true as soon as `look` does; false after the given seconds. */
export async function waitUntil(
  seconds: number,
  look: () => boolean | Promise<boolean>,
): Promise<boolean> {
  for (let left = seconds * 1000; ; left -= everyMilliseconds) {
    if (await look()) return true
    if (left <= 0) return false
    await sleep(everyMilliseconds)
  }
}

/** Ready: its file exists, its process lives, and it reports ready. */
export async function isReady(home: Home): Promise<boolean> {
  const running = home.running()
  if (running === undefined || !isAlive(running.pid)) return false
  return isReadyAt(running.httpUrl ?? running.localUrl ?? running.url)
}

export async function isReadyAt(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url.replace(/\/$/, '')}/readyz`)).ok
  } catch {
    // Nothing listens yet.
    return false
  }
}

export function readSeconds(text: string): number {
  const seconds = Number(text)
  if (text.trim() !== '' && seconds >= 0 && seconds <= 86_400) return seconds
  throw new UsageError(`\`--timeout ${text}\` is no number of seconds from 0 to 86400`)
}

export function stopProcess({ pid }: RunningFile, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // It has ended, or belongs to another user.
    if (!(error instanceof Error && 'code' in error) || error.code === 'ESRCH') return
    throw new LocalProblem('NotStopped', `Process ${pid}: ${error.message}`, { cause: error })
  }
}
