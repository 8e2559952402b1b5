/**
 * Worker threads, or processes, for work that would hold up the server. Each task has a limit of time, each thread one of
 * memory, and what exceeds a limit is refused without harm to the next task. Every task begins in the thread of the quick
 * ones, and leaves it after a second: so what takes long keeps nobody waiting whose work does not. An owner has one
 * thread of each kind at a time. Threads start when they are needed and end after a while without work.
 * Knows nothing of the work.
 */

import type { EventEmitter } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type Awaited, createRoom, type Leave } from '#kernel/room.ts'
import type { Answered } from './answer-tasks.ts'

export interface ThreadLimits {
  /** For tasks that take long. One more is for those that do not. */
  readonly threadsMax: number
  /** The time limit of one task, in seconds, without the start of a thread. */
  readonly seconds: number
  /** The limit of a thread's heap, in megabytes. */
  readonly heapMegabytes: number
  /** A thread ends after this many seconds without a task. */
  readonly idleSeconds: number
  /** Its code is loaded in this many seconds, or never. */
  readonly startSeconds?: number
}

/** The time of a quick task, without the start of a thread. */
const quickMilliseconds = 1000

/** A task exceeded a limit. The message is the limit: `20 seconds` or `192 MB`. */
export class PastLimit extends Error {
  constructor(limit: string) {
    super(limit)
    this.name = 'PastLimit'
  }
}

interface LimitedThreads<Task, Answer> {
  /** Throws `PastLimit`, and the reason of the signal where it is aborted before the task has a thread. */
  ask(ownerId: string, task: Task, awaited?: Awaited): Promise<Answer>
}

/** A thread, or what is used as one. */
export interface Runner extends EventEmitter {
  postMessage(task: unknown): void
  ref(): void
  unref(): void
  terminate(): Promise<unknown>
}

type Begin = (file: URL, limits: ThreadLimits) => Runner

const beginThread: Begin = (file, { heapMegabytes }) =>
  new Worker(file, {
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 24 },
  })

function ended(): Error {
  return new Error('a thread ended without an answer')
}

/** `file` is the module of the thread, which calls `answerTasks`. */
export function openThreads<Task, Answer>(
  file: URL,
  limits: ThreadLimits,
  begin = beginThread,
): LimitedThreads<Task, Answer> {
  const quick = createRoom({ perOwnerMax: 1, sumMax: 1 })
  const slow = createRoom({ perOwnerMax: 1, sumMax: limits.threadsMax })
  const idle = new Map<Runner, NodeJS.Timeout>()

  /** Resolves when its code is loaded: that takes long on a busy machine, and counts for no task. */
  async function start(): Promise<Runner> {
    const { startSeconds = 60 } = limits
    const worker = begin(file, limits)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const late = setTimeout(
      () => reject(new Error(`a thread has not started in ${startSeconds} seconds`)),
      startSeconds * 1000,
    )
    worker.once('message', resolve).once('error', reject)
    worker.once('exit', () => reject(ended()))
    // The next task starts a new thread if this one ends.
    worker.on('error', () => end(worker)).once('exit', () => end(worker))
    try {
      await promise
      return worker
    } catch (error) {
      end(worker)
      throw error
    } finally {
      clearTimeout(late)
    }
  }

  function end(worker: Runner): void {
    clearTimeout(idle.get(worker))
    idle.delete(worker)
    void worker.terminate()
  }

  async function take(): Promise<Runner> {
    const [[worker, timer] = []] = idle
    if (worker === undefined) return start()
    clearTimeout(timer)
    idle.delete(worker)
    return worker
  }

  /** `onSlow` says whether a task that is not quick goes on; undefined where it does not. */
  async function answered(
    task: Task,
    onSlow?: () => boolean,
  ): Promise<Answered<Answer> | undefined> {
    const worker = await take()
    const { promise, resolve, reject } = Promise.withResolvers<Answered<Answer> | undefined>()
    const lost = (error: NodeJS.ErrnoException): void => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      reject(isMemory ? new PastLimit(`${limits.heapMegabytes} MB`) : error)
    }
    const deadline = setTimeout(
      () => reject(new PastLimit(`${limits.seconds} seconds`)),
      limits.seconds * 1000,
    )
    const notQuick = onSlow && setTimeout(() => onSlow() || resolve(undefined), quickMilliseconds)
    const exited = (): void => reject(ended())
    worker.once('message', resolve).once('error', lost).once('exit', exited)
    // A task under way keeps the process alive, as any work does.
    worker.ref()
    worker.postMessage(task)
    try {
      const result = await promise
      if (result === undefined) end(worker)
      else idle.set(worker, setTimeout(() => end(worker), limits.idleSeconds * 1000).unref())
      return result
    } catch (error) {
      end(worker)
      throw error
    } finally {
      clearTimeout(deadline)
      clearTimeout(notQuick)
      worker.off('message', resolve).off('error', lost).off('exit', exited)
      worker.unref()
    }
  }

  /** In the thread of quick tasks as long as it is one, and from then on in another: the same, where one is free. */
  async function run(ownerId: string, task: Task, awaited?: Awaited): Promise<Answered<Answer>> {
    let leave = await quick.enter(ownerId, 1, awaited)
    let place: Leave | Promise<Leave> | undefined
    const onSlow = (): boolean => {
      place = slow.enter(ownerId, 1, awaited)
      if (place instanceof Promise) return false
      leave()
      leave = place
      return true
    }
    try {
      awaited?.()?.throwIfAborted()
      const result = await answered(
        task,
        limits.seconds * 1000 > quickMilliseconds ? onSlow : undefined,
      )
      if (result !== undefined) return result
    } finally {
      leave()
    }
    // Ended, and begun anew when another task has ended.
    leave = await (place ?? slow.enter(ownerId, 1, awaited))
    try {
      const result = await answered(task)
      if (result === undefined) throw new Error('only a quick task is ended without an answer')
      return result
    } finally {
      leave()
    }
  }

  return {
    async ask(ownerId, task, awaited) {
      const result = await run(ownerId, task, awaited)
      if (result.kind === 'answer') return result.answer
      throw Object.assign(new Error(result.message), { stack: result.stack })
    },
  }
}
