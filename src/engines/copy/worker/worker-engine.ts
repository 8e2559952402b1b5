/**
 * Copies in one process per session: it shares no event loop, thread pool or memory with the server, and can be
 * ended. Credentials are sent by message, never by environment or command line.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { OutboundSettings } from '#outbound/policy.ts'
import {
  CopyCancelled,
  type CopyEngine,
  CopyFailure,
  CopyFault,
  type CopyJournal,
  type CopySession,
  type CopyTask,
  toBeContinued,
} from '../engine.ts'
import type { FromWorker, JournalCall, Outcome, ToWorker } from './messages.ts'

/** A task that does not react to its cancellation for so long is ended with its process. */
const cancelMilliseconds = 3000
const heapMegabytes = 256

/**
 * `outbound`: what its processes may connect to. `folder`: where each has a folder for its temporary files, which is removed
 * with it however it ends.
 */
export function workerEngine(outbound: OutboundSettings, folder = tmpdir()): CopyEngine {
  return { open: () => new WorkerSession(outbound, folder) }
}

interface Running {
  readonly child: ChildProcess
  readonly journal: CopyJournal
  isPublishing: boolean
  /** The journal's error. */
  refused: unknown
  end(outcome: Outcome): void
}

class WorkerSession implements CopySession {
  #child: ChildProcess | undefined
  /** The folders of temporary files of processes that ended. */
  #removed: Promise<void> | undefined
  readonly #running = new Map<string, Running>()
  readonly #outbound: OutboundSettings
  readonly #folder: string

  constructor(outbound: OutboundSettings, folder: string) {
    this.#outbound = outbound
    this.#folder = folder
  }

  async copy(task: CopyTask, journal: CopyJournal, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new CopyCancelled()
    const child = this.#process()
    let timer: NodeJS.Timeout | undefined
    const ended = Promise.withResolvers<Outcome>()
    const running: Running = {
      child,
      journal,
      isPublishing: false,
      refused: undefined,
      end: (outcome) => ended.resolve(outcome),
    }
    this.#running.set(task.id, running)
    const cancel = (): void => {
      const reason = signal.reason === toBeContinued ? toBeContinued : undefined
      this.#say(child, { kind: 'cancel', taskId: task.id, reason })
      timer = setTimeout(() => {
        if (!running.isPublishing) child.kill('SIGKILL')
      }, cancelMilliseconds)
    }
    signal.addEventListener('abort', cancel, { once: true })
    try {
      this.#say(child, { kind: 'copy', task, outbound: this.#outbound })
      const outcome = await ended.promise
      settle(outcome, running, signal)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
      this.#running.delete(task.id)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
    }
    await this.#removed
  }

  #process(): ChildProcess {
    if (this.#child?.connected === true) return this.#child
    // In a package the files are JavaScript; in a checkout they are TypeScript.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const temporary = mkdtempSync(join(this.#folder, 'armature-copy-'))
    const child = begun(new URL(`./main.${extension}`, import.meta.url), temporary)
    child.on('message', (message: FromWorker) => void this.#hear(child, message))
    const over = (): void => {
      if (this.#child === child) this.#child = undefined
      const message = 'the process that copied ended; what it had done is kept'
      for (const one of this.#running.values()) {
        if (one.child !== child) continue
        one.end({ kind: 'failed', code: 'WorkerLost', message, retry: 'later' })
      }
      // Without a free descriptor nothing can be removed either, which must not end the server.
      const removed = rm(temporary, { recursive: true, force: true }).catch(() => undefined)
      this.#removed = Promise.all([this.#removed, removed]).then(() => undefined)
    }
    // One that could not be begun has no end.
    child.on('error', () => child.pid ?? over())
    child.once('exit', over)
    this.#child = child
    return child
  }

  async #hear(child: ChildProcess, message: FromWorker): Promise<void> {
    const running = this.#running.get(message.taskId)
    if (message.kind === 'ended') {
      running?.end(message.outcome)
      return
    }
    if (running === undefined) return
    if (message.journal.name === 'publishing') running.isPublishing = true
    try {
      const value = await asked(running.journal, message.journal)
      this.#say(child, { kind: 'answer', call: message.call, value })
    } catch (error) {
      // Kept for the caller of the copy; the process is only told to stop.
      running.refused = error
      this.#say(child, { kind: 'refused', call: message.call, message: 'the journal refused' })
    }
  }

  #say(child: ChildProcess, message: ToWorker): void {
    // A process that is gone receives nothing; its exit ends the tasks.
    if (child.connected) child.send(message, () => undefined)
  }
}

/** Where the system has no room for it, its folder goes at once. */
function begun(file: URL, temporary: string): ChildProcess {
  try {
    return fork(file, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${heapMegabytes}`],
      // The server's environment is not passed on; the compile cache halves the start.
      env: { ...compiledBefore(), TMPDIR: temporary },
    })
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    throw error
  }
}

function compiledBefore(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

function asked(journal: CopyJournal, call: JournalCall): Promise<unknown> {
  switch (call.name) {
    case 'forget':
      return journal.forget()
    case 'todo':
      return journal.todo(...call.values)
    case 'commit':
      return journal.commit(...call.values)
    case 'holds':
      return journal.holds(...call.values)
    case 'publishing':
      return journal.publishing(...call.values)
    case 'done':
      return journal.done(...call.values)
    case 'published':
      return journal.published(...call.values)
    default:
      return call satisfies never
  }
}

function settle(outcome: Outcome, running: Running, signal: AbortSignal): void {
  switch (outcome.kind) {
    case 'copied':
      return
    case 'cancelled':
      throw new CopyCancelled()
    case 'journal':
      throw running.refused
    case 'failed':
      if (signal.aborted && outcome.code === 'WorkerLost') throw new CopyCancelled()
      throw new CopyFailure(outcome.code, outcome.message, outcome.retry)
    case 'fault':
      throw new CopyFault(`copying failed: ${outcome.message}`)
    default:
      outcome satisfies never
  }
}
