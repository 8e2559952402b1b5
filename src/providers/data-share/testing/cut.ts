/** An engine that is interrupted at one call of one data set's ledger: what a test does there, it says. */

import type { CopyEngine, Ledger, Place } from '#engines/copy/engine.ts'
import { workerEngine } from '#engines/copy/worker/worker-engine.ts'
import { openSettings } from '#outbound/policy.ts'

export interface Cut {
  /** Of the data set by what its target is. */
  readonly target: Place['kind']
  readonly call: keyof Ledger
  readonly when: 'before' | 'after'
}

export function cutEngine(cut: Cut, onCut: (signal: AbortSignal) => Promise<void>): CopyEngine {
  const inner = workerEngine(openSettings)
  let isCut = false
  const once = async (signal: AbortSignal): Promise<void> => {
    if (isCut) return
    isCut = true
    await onCut(signal)
  }
  return {
    open() {
      const session = inner.open()
      return {
        copy: (task, ledger, signal) =>
          session.copy(
            task,
            task.target.kind === cut.target ? cutLedger(ledger, cut, () => once(signal)) : ledger,
            signal,
          ),
        [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
      }
    },
  }
}

function cutLedger(ledger: Ledger, { call, when }: Cut, onCut: () => Promise<void>): Ledger {
  const at = async (moment: Cut['when'], name: keyof Ledger): Promise<void> => {
    if (moment === when && name === call) await onCut()
  }
  const around = async <T>(name: keyof Ledger, work: () => Promise<T>): Promise<T> => {
    await at('before', name)
    const answer = await work()
    await at('after', name)
    return answer
  }
  return {
    todo: (items) => around('todo', () => ledger.todo(items)),
    commit: (progress) => around('commit', () => ledger.commit(progress)),
    holds: (keys) => around('holds', () => ledger.holds(keys)),
    publishing: () => around('publishing', () => ledger.publishing()),
    done: (after, limit) => around('done', () => ledger.done(after, limit)),
    published: (outcome) => around('published', () => ledger.published(outcome)),
  }
}
