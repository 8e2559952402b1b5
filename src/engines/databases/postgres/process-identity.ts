/** Tells whether a process of ours still runs, even when its number was given to another. */

import { readFileSync } from 'node:fs'
import type { ProcessIdentity } from './record.ts'

export function identify(pid: number): ProcessIdentity {
  return { pid, started: startedAt(pid) ?? '' }
}

export function isRunning(process_: ProcessIdentity): boolean {
  try {
    process.kill(process_.pid, 0)
  } catch {
    // Not permitted means that it is there, and another user's: not ours.
    return false
  }
  const started = startedAt(process_.pid)
  return process_.started === '' || started === undefined || started === process_.started
}

/**
 * Field 22 of the system's own record, in ticks since the machine started; a dead child that nobody has
 * asked after yet counts as gone. Undefined where there is no such record.
 */
function startedAt(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? 'ended' : fields[19]
  } catch {
    // Another kind of system, or just gone.
    return undefined
  }
}
