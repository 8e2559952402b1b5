/**
 * Processor time and resident memory of a process and its descendants, as the operating system tells them. Linux
 * only: elsewhere the figures are undefined, and the table says so.
 */

import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessFigures {
  /** User and system time since the start of each process, in microseconds. */
  readonly cpuMicroseconds: number
  readonly residentBytes: number
}

/** `USER_HZ`, the unit of the times in `/proc/<pid>/stat`; 100 on every Linux that Node runs on. */
const tickMicroseconds = 10_000

/** The sum over the process and all its descendants; `undefined` without `/proc`. */
export function readFigures(pid: number): ProcessFigures | undefined {
  let cpuMicroseconds = 0
  let residentBytes = 0
  const pids = processTree(pid)
  for (const one of pids) {
    const stat = readStat(one)
    if (stat === undefined) continue
    cpuMicroseconds += stat.ticks * tickMicroseconds
    residentBytes += residentOf(one)
  }
  return pids.length === 0 ? undefined : { cpuMicroseconds, residentBytes }
}

/** The process and its descendants, parents first; empty if it has ended. */
export function processTree(pid: number): readonly number[] {
  if (readStat(pid) === undefined) return []
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(name)) continue
    const stat = readStat(Number(name))
    if (stat === undefined) continue
    const siblings = children.get(stat.parent)
    if (siblings === undefined) children.set(stat.parent, [Number(name)])
    else siblings.push(Number(name))
  }
  const found = [pid]
  for (const one of found) found.push(...(children.get(one) ?? []))
  return found
}

function readStat(pid: number): { readonly parent: number; readonly ticks: number } | undefined {
  const text = readProc(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The second field is the name in brackets and may contain spaces. The fields after the last bracket are regular.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [user, system, waitedUser, waitedSystem] = fields.slice(11, 15).map(Number)
  return {
    parent: Number(fields[1]),
    ticks: (user ?? 0) + (system ?? 0) + (waitedUser ?? 0) + (waitedSystem ?? 0),
  }
}

function residentOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+([0-9]+) kB$/m.exec(readProc(`/proc/${pid}/status`) ?? '')?.[1]
  return kilobytes === undefined ? 0 : Number(kilobytes) * 1024
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // A process may end between two reads, and other systems have no `/proc`. Both mean "unknown".
    return undefined
  }
}
