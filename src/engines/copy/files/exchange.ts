/**
 * Two paths that change places in one step, so that no reader finds either of them absent. Linux does so by a call
 * that Node has no name for; what stands on nearly every Linux has: perl's `syscall`, or a newer `mv`.
 */

import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'

/** The number of renameat2, by processor. */
const numbers: Readonly<Record<string, number>> = { x64: 316, arm64: 276 }
/** Of renameat2: relative to the working directory, and exchange. */
const [here, exchanging] = [-100, 2]
const waitMilliseconds = 10_000

/** False where nothing on this machine or file system can: nothing has changed then. */
export function exchange(left: string, right: string): boolean {
  const number = numbers[process.arch]
  if (process.platform !== 'linux' || number === undefined) return false
  const { ino } = statSync(left, { bigint: true })
  const call = `exit(syscall(${number}, ${here}, $ARGV[0], ${here}, $ARGV[1], ${exchanging}) == 0 ? 0 : 1)`
  const ways: readonly (readonly [string, readonly string[]])[] = [
    ['/usr/bin/perl', ['-e', call, left, right]],
    ['/usr/bin/mv', ['--exchange', '--no-target-directory', left, right]],
  ]
  for (const [program, words] of ways) {
    spawnSync(program, words, { stdio: 'ignore', env: {}, timeout: waitMilliseconds })
    // What it says of itself is not asked: what is there tells it.
    if (statSync(right, { bigint: true }).ino === ino) return true
  }
  return false
}
