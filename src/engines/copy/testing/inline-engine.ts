/** Copies in this process with the worker's code, for tests that need no process. */

import type { Outbound } from '#outbound/outbound.ts'
import { openWay } from '#outbound/testing/ways.ts'
import { copyTask } from '../copy-task.ts'
import type { CopyEngine } from '../engine.ts'

export function inlineEngine(outbound: Outbound = openWay): CopyEngine {
  return {
    open: () => ({
      copy: (task, journal, signal) => copyTask({ ...task, outbound }, journal, signal),
      [Symbol.asyncDispose]: async () => undefined,
    }),
  }
}
