/** Finds out whether a process of ours still runs, even when its number was reused. */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
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
 * The same where both the folder and processes of this system are seen: containers of one machine see others. Machines that were
 * made from one image may have one name, and their first namespaces are named alike: they were not started alike.
 */
export function placeOf(folder: string, system = '/proc'): string {
  const namespace = join(system, 'self/ns/pid')
  const processes = existsSync(namespace) ? readlinkSync(namespace) : ''
  const start = join(system, 'sys/kernel/random/boot_id')
  const started = existsSync(start) ? readFileSync(start, 'utf8') : ''
  const text = JSON.stringify([hostname(), processes, started, resolve(folder)])
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

const programs: ReadonlySet<string> = new Set(['pg_dump', 'pg_restore'])

/**
 * Ends the client programs that a leader of a process group left when it was killed. Only by its record: after a start of the system
 * numbers are given out anew. Nothing is done where the leader runs, or where the system has no such records.
 */
export function endProgramsLeftBy({ pid }: ProcessIdentity): void {
  if (isRunning({ pid, started: '' }) || !existsSync('/proc/self/stat')) return
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const record = recordOf(Number(name))
    if (record?.group === String(pid) && programs.has(record.name)) end(Number(name))
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended, or is another user's.
  }
}

/**
 * Field 22 of the system's process record, in ticks since boot; a dead child that was not reaped counts as gone.
 * Undefined when there is no such record.
 */
function startedAt(pid: number): string | undefined {
  const record = recordOf(pid)
  return record?.state === 'Z' ? 'ended' : record?.started
}

interface SystemRecord {
  readonly name: string
  readonly state: string | undefined
  readonly group: string | undefined
  readonly started: string | undefined
}

function recordOf(pid: number): SystemRecord | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const nameEnd = text.lastIndexOf(')')
    const fields = text.slice(nameEnd + 2).split(' ')
    const name = text.slice(text.indexOf('(') + 1, nameEnd)
    return { name, state: fields[0], group: fields[2], started: fields[19] }
  } catch {
    // Another operating system, or the process just ended.
    return undefined
  }
}
