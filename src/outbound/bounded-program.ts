/**
 * Bounds for a program of this machine that reads what a caller's server sends. It may keep all of it: the system holds
 * the bound of memory, as a limit of address space, for the program and for each of those it starts. A system that
 * has no such limit (macOS) runs the program without one. It may compute for minutes: the server's own work goes first.
 */

export interface Command {
  readonly program: string
  readonly args: readonly string[]
}

/**
 * A limit that is lower already stays, and cannot be raised. The program takes the shell's place, so that signals reach it. It
 * may have no path on which `nice` is found.
 */
const script =
  'ulimit -v "$1" 2>/dev/null; shift; command -v nice >/dev/null && exec nice -n 10 "$@"; exec "$@"'

/** What `nice` and the shell end with where there is no such program. */
export const programMissing = 127

export function withinMemory({ program, args }: Command, bytesMax: number): Command {
  const kibibytes = String(Math.ceil(bytesMax / 1024))
  return { program: '/bin/sh', args: ['-c', script, 'sh', kibibytes, program, ...args] }
}
