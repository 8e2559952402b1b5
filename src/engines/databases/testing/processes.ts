/** Processes of this machine, as Linux shows them. Elsewhere nothing is found. */

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Socket } from 'node:net'

export const seesProcesses = existsSync('/proc/net/tcp')
export const howToSeeProcesses = 'the processes of this machine cannot be seen: this needs Linux'

/** The process at the other end of a connection of this machine. */
export function peerOf(socket: Socket): number | undefined {
  const ending = (port: number | undefined): string =>
    `:${(port ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  const [theirs, ours] = [ending(socket.remotePort), ending(socket.localPort)]
  const fields = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find(([, local = '', remote = '']) => local.endsWith(theirs) && remote.endsWith(ours))
  const link = `socket:[${fields?.[9]}]`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => filesOf(pid).includes(link))
}

function filesOf(pid: number): readonly string[] {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).map((name) => readlinkSync(`${folder}/${name}`))
  } catch {
    // It ended, a file of it was closed, or it is somebody else's.
    return []
  }
}

/** A process that was ended and not yet waited for counts as gone. */
export function runs(pid: number): boolean {
  return !['', 'Z'].includes(stateOf(pid))
}

/** `T` where it was stopped, `Z` where it was ended; empty where there is none. */
export function stateOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.charAt(text.lastIndexOf(')') + 2)
  } catch {
    // Nobody has the number.
    return ''
  }
}

/** The most memory it ever held. */
export function peakMegabytes(pid: number): number {
  const [, kibibytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) / 1024
}
