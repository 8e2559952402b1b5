/** Finds out whether a process of ours still runs, even when its number was reused. */

import { readFileSync } from 'node:fs'
import type { ProcessIdentity } from './record.ts'

export function identify(pid: number): ProcessIdentity {
  return { pid, started: startedAt(pid) ?? '' }
}

export function isRunning(process_: ProcessIdentity): boolean {
  try {
    process.kill(process_.pid, 0)
  } catch {
    // "Not permitted" means that another user's process has the number, so it is not ours.
    return false
  }
  const started = startedAt(process_.pid)
  return process_.started === '' || started === undefined || started === process_.started
}

/**
 * Field 22 of the system's process record, in ticks since boot; a dead child that was not reaped counts as gone.
 * Undefined when there is no such record.
 */
function startedAt(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? 'ended' : fields[19]
  } catch {
    // Another operating system, or the process just ended.
    return undefined
  }
}
