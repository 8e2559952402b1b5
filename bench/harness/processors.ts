/**
 * Keeps the server and whoever asks it on processors of their own, where the machine has two and `taskset`.
 * Elsewhere commands run as they are, and the results say so.
 */

import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

export interface Processors {
  readonly pinned: boolean
  /** The command that runs `command` where servers run. */
  forServer(command: readonly string[]): readonly string[]
  /** The command that runs `command` where the load comes from. */
  forLoad(command: readonly string[]): readonly string[]
}

export function findProcessors(): Processors {
  const pinned =
    availableParallelism() >= 2 && spawnSync('taskset', ['-c', '0,1', 'true']).status === 0
  if (!pinned) {
    return { pinned, forServer: (command) => command, forLoad: (command) => command }
  }
  // This process only starts others and waits; it must not wait where the server works.
  spawnSync('taskset', ['-cp', '1', String(process.pid)])
  return {
    pinned,
    forServer: (command) => ['taskset', '-c', '0', ...command],
    forLoad: (command) => ['taskset', '-c', '1', ...command],
  }
}
