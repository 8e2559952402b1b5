/**
 * Runs the server and the load on different processors, if the machine has two and `taskset`. Otherwise commands
 * run as they are, and the results say so.
 */

import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

export interface Processors {
  readonly pinned: boolean
  /** The command that runs `command` on the server's processor. */
  forServer(command: readonly string[]): readonly string[]
  /** The command that runs `command` on the load's processor. */
  forLoad(command: readonly string[]): readonly string[]
  /** During `work`, processes that are started without these commands may use every processor. */
  onAll<T>(work: () => Promise<T>): Promise<T>
}

export function findProcessors(): Processors {
  const pinned =
    availableParallelism() >= 2 && spawnSync('taskset', ['-c', '0,1', 'true']).status === 0
  if (!pinned) {
    return {
      pinned,
      forServer: (command) => command,
      forLoad: (command) => command,
      onAll: (work) => work(),
    }
  }
  // This process only starts others and waits. It must not run on the server's processor.
  const pin = (list: string) => spawnSync('taskset', ['-cp', list, String(process.pid)])
  const shown = spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' }).stdout
  const all = /([0-9,-]+)\s*$/.exec(shown)?.[1] ?? '0,1'
  pin('1')
  return {
    pinned,
    forServer: (command) => ['taskset', '-c', '0', ...command],
    forLoad: (command) => ['taskset', '-c', '1', ...command],
    async onAll(work) {
      pin(all)
      try {
        return await work()
      } finally {
        pin('1')
      }
    },
  }
}
