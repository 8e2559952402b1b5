/** An engine that is interrupted at one call of one data set's ledger: what a test does there, it says. */

import type { CopyEngine, CopyJournal, CopyLocation } from '#engines/copy/engine.ts'
import { workerEngine } from '#engines/copy/worker/worker-engine.ts'
import { openSettings } from '#outbound/policy.ts'

export interface Cut {
  /** Of the data set by what its target is. */
  readonly target: CopyLocation['kind']
  readonly call: keyof CopyJournal
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
        copy: (task, journal, signal) =>
          session.copy(
            task,
            task.target.kind === cut.target ? cutLedger(journal, cut, () => once(signal)) : journal,
            signal,
          ),
        [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
      }
    },
  }
}

function cutLedger(
  journal: CopyJournal,
  { call, when }: Cut,
  onCut: () => Promise<void>,
): CopyJournal {
  const at = async (moment: Cut['when'], name: keyof CopyJournal): Promise<void> => {
    if (moment === when && name === call) await onCut()
  }
  const around = async <T>(name: keyof CopyJournal, work: () => Promise<T>): Promise<T> => {
    await at('before', name)
    const answer = await work()
    await at('after', name)
    return answer
  }
  return {
    forget: () => around('forget', () => journal.forget()),
    todo: (items) => around('todo', () => journal.todo(items)),
    commit: (progress) => around('commit', () => journal.commit(progress)),
    holds: (keys) => around('holds', () => journal.holds(keys)),
    publishing: () => around('publishing', () => journal.publishing()),
    done: (after, limit) => around('done', () => journal.done(after, limit)),
    published: (outcome) => around('published', () => journal.published(outcome)),
  }
}
