/** Copies in this very process: the same code as the worker's, for tests that need no process. */

import { copyTask } from '../copy-task.ts'
import type { CopyEngine } from '../engine.ts'

export function inlineEngine(): CopyEngine {
  return {
    open: () => ({
      copy: (task, ledger, signal) => copyTask(task, ledger, signal),
      [Symbol.asyncDispose]: async () => undefined,
    }),
  }
}
