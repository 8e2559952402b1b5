/**
 * The process of a session: it copies what its parent sends and asks the parent for the journal. It ends with its
 * parent, and opens only what the task names.
 */

import { flushCompileCache } from 'node:module'
import { restAfterSteps } from '#outbound/bounded-handshake.ts'
import { lineLog } from '#outbound/line-log.ts'
import { type Outbound, openOutbound } from '#outbound/outbound.ts'
import type { OutboundSettings } from '#outbound/policy.ts'
import { copyTask } from '../copy-task.ts'
import { CopyCancelled, CopyFailure, type CopyJournal, type CopyTask } from '../engine.ts'
import type { FromWorker, JournalCall, Outcome, ToWorker } from './messages.ts'

/** More than 32 blobs at once, or DuckDB, need. */
const residentBytesMax = 1536 * 1024 * 1024
const lookMilliseconds = 200
/** Characters of a failure: a server that somebody registered may have written it. */
const wordsMax = 8000

/** Handshakes leave two thirds of a processor to others. */
restAfterSteps(2)

class JournalRefused extends Error {}

const cancels = new Map<string, AbortController>()
const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
let calls = 0

function say(message: FromWorker): void {
  // A parent that is gone receives nothing; the disconnect event ends this process.
  process.send?.(message, undefined, undefined, () => undefined)
}

function ask(taskId: string, journal: JournalCall): Promise<unknown> {
  const call = ++calls
  return new Promise((resolve, reject) => {
    waiting.set(call, { resolve, reject })
    say({ kind: 'call', call, taskId, journal })
  })
}

function ledgerOf(taskId: string): CopyJournal {
  // Every answer is what the parent's journal returned for this very call.
  const call = (journal: JournalCall) => ask(taskId, journal) as Promise<never>
  return {
    forget: () => call({ name: 'forget', values: [] }),
    todo: (items) =>
      call({ name: 'todo', values: [items.map(({ key, size, etag }) => ({ key, size, etag }))] }),
    commit: (progress) => call({ name: 'commit', values: [progress] }),
    holds: (keys) => call({ name: 'holds', values: [keys] }),
    publishing: () => call({ name: 'publishing', values: [] }),
    done: (after, limit) => call({ name: 'done', values: [after, limit] }),
    published: (outcome) => call({ name: 'published', values: [outcome] }),
  }
}

let way: Outbound | undefined

async function run(task: CopyTask, settings: OutboundSettings): Promise<void> {
  way ??= openOutbound({ settings, log: lineLog() })
  const cancel = new AbortController()
  cancels.set(task.id, cancel)
  const outcome = await copyTask({ ...task, outbound: way }, ledgerOf(task.id), cancel.signal).then(
    (): Outcome => ({ kind: 'copied' }),
    outcomeOf,
  )
  cancels.delete(task.id)
  // The parent ends it by a kill, which does not write the cache.
  flushCompileCache()
  say({ kind: 'ended', taskId: task.id, outcome })
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof CopyCancelled) return { kind: 'cancelled' }
  if (error instanceof JournalRefused) return { kind: 'journal' }
  if (error instanceof CopyFailure) {
    const { code, message, retry } = error
    return { kind: 'failed', code, message: message.slice(0, wordsMax), retry }
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { kind: 'fault', message: text.slice(0, wordsMax) }
}

process.on('message', (message: ToWorker) => {
  switch (message.kind) {
    case 'copy':
      void run(message.task, message.outbound)
      return
    case 'cancel':
      cancels.get(message.taskId)?.abort(message.reason)
      return
    case 'answer':
      waiting.get(message.call)?.resolve(message.value)
      waiting.delete(message.call)
      return
    case 'refused':
      waiting.get(message.call)?.reject(new JournalRefused(message.message))
      waiting.delete(message.call)
      return
  }
})
// Data of a server is held outside of the heap, which has a bound of its own. The session is told that its worker
// is lost.
setInterval(() => {
  if (process.memoryUsage.rss() > residentBytesMax) process.kill(process.pid, 'SIGKILL')
}, lookMilliseconds)
// Killed or gone, the parent takes the session with it. Not by `process.exit`: it waits for compiler threads that may
// be waiting for this one (nodejs/node#54918), and a process that hangs so would keep its files and pipes for ever.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
