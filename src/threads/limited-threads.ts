/**
 * Worker threads for work that would hold up the server. Each task has a limit of time, each thread one of
 * memory, and what exceeds a limit is refused without harm to the next task. An owner has one thread at a time,
 * so that others are served meanwhile. Threads start when they are needed and end after a while without work.
 * Knows nothing of the work.
 */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createRoom, inRoom } from '#kernel/room.ts'
import type { Answered } from './answer-tasks.ts'

export interface ThreadLimits {
  readonly threadsMax: number
  /** The time limit of one task, in seconds, without the start of a thread. */
  readonly seconds: number
  /** The limit of a thread's heap, in megabytes. */
  readonly heapMegabytes: number
  /** A thread ends after this many seconds without a task. */
  readonly idleSeconds: number
}

/** A task exceeded a limit. The message is the limit: `20 seconds` or `192 MB`. */
export class PastLimit extends Error {
  constructor(limit: string) {
    super(limit)
    this.name = 'PastLimit'
  }
}

interface LimitedThreads<Task, Answer> {
  /** Throws `PastLimit`. */
  ask(ownerId: string, task: Task): Promise<Answer>
}

/** `file` is the module of the thread, which calls `answerTasks`. */
export function openThreads<Task, Answer>(
  file: URL,
  limits: ThreadLimits,
): LimitedThreads<Task, Answer> {
  const turns = createRoom({ perOwnerMax: 1, sumMax: limits.threadsMax })
  const idle = new Map<Worker, NodeJS.Timeout>()

  /** Resolves when its code is loaded: that takes long on a busy machine, and counts for no task. */
  async function start(): Promise<Worker> {
    const worker = new Worker(file, {
      resourceLimits: {
        maxOldGenerationSizeMb: limits.heapMegabytes,
        maxYoungGenerationSizeMb: 24,
      },
    })
    // The next task starts a new thread if this one ends.
    worker.on('error', () => end(worker))
    await once(worker, 'message')
    return worker
  }

  function end(worker: Worker): void {
    clearTimeout(idle.get(worker))
    idle.delete(worker)
    void worker.terminate()
  }

  async function take(): Promise<Worker> {
    const [[worker, timer] = []] = idle
    if (worker === undefined) return start()
    clearTimeout(timer)
    idle.delete(worker)
    return worker
  }

  async function answered(task: Task): Promise<Answered<Answer>> {
    const worker = await take()
    const { promise, resolve, reject } = Promise.withResolvers<Answered<Answer>>()
    const lost = (error: NodeJS.ErrnoException): void => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      reject(isMemory ? new PastLimit(`${limits.heapMegabytes} MB`) : error)
    }
    const deadline = setTimeout(
      () => reject(new PastLimit(`${limits.seconds} seconds`)),
      limits.seconds * 1000,
    )
    worker.once('message', resolve).once('error', lost)
    // A task under way keeps the process alive, as any work does.
    worker.ref()
    worker.postMessage(task)
    try {
      const result = await promise
      idle.set(worker, setTimeout(() => end(worker), limits.idleSeconds * 1000).unref())
      return result
    } catch (error) {
      end(worker)
      throw error
    } finally {
      clearTimeout(deadline)
      worker.off('message', resolve).off('error', lost)
      worker.unref()
    }
  }

  return {
    async ask(ownerId, task) {
      const result = await inRoom(turns, ownerId, () => answered(task))
      if (result.kind === 'answer') return result.answer
      throw Object.assign(new Error(result.message), { stack: result.stack })
    },
  }
}
