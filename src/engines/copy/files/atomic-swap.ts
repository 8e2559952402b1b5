/**
 * Two paths that change places in one step, so that no reader finds either of them absent. Linux does so by a call
 * that Node has no name for; what stands on nearly every Linux has: perl's `syscall`, python's `ctypes`, or a newer `mv`.
 */

import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'

/** The number of the system call renameat2, by processor. */
const numbers: Readonly<Record<string, number>> = { x64: 316, arm64: 276 }
/** Arguments of renameat2: relative to the working directory, and exchange. */
const [here, exchanging] = [-100, 2]
const waitMilliseconds = 10_000

/** In order of preference. The first two behave the same everywhere; the last one needs coreutils 9.5. */
export const swapPrograms = ['/usr/bin/perl', '/usr/bin/python3', '/usr/bin/mv'] as const
type SwapProgram = (typeof swapPrograms)[number]

/** Returns false when nothing on this machine or file system can do it; then nothing has changed. */
export function swapFolders(
  left: string,
  right: string,
  programs: readonly SwapProgram[] = swapPrograms,
): boolean {
  const number = numbers[process.arch]
  if (process.platform !== 'linux' || number === undefined) return false
  const { ino } = statSync(left, { bigint: true })
  const perl = `exit(syscall(${number}, ${here}, $ARGV[0], ${here}, $ARGV[1], ${exchanging}) == 0 ? 0 : 1)`
  const python = `import ctypes, os, sys; left, right = map(os.fsencode, sys.argv[1:])
ctypes.CDLL(None).syscall(${number}, ${here}, left, ${here}, right, ${exchanging})`
  const words: Readonly<Record<SwapProgram, readonly string[]>> = {
    '/usr/bin/perl': ['-e', perl],
    // Loads nothing from the folder it is started in.
    '/usr/bin/python3': ['-I', '-c', python],
    '/usr/bin/mv': ['--exchange', '--no-target-directory'],
  }
  for (const program of programs) {
    const options = { stdio: 'ignore', env: {}, timeout: waitMilliseconds } as const
    spawnSync(program, [...words[program], left, right], options)
    // The program's exit code is ignored; the result on disk counts.
    if (statSync(right, { bigint: true }).ino === ino) return true
  }
  return false
}
