/**
 * Makes PDFs in a worker thread, so that no document blocks the server. The thread makes one document at a time,
 * with a limit of time for each and of memory for the thread. The first document starts the thread. The thread ends
 * after a while without work.
 */

import { Worker } from 'node:worker_threads'
import { createRoom, inRoom } from '#kernel/room.ts'
import { refuse } from '../errors.ts'
import type { PdfAnswer } from './pdf-thread.ts'
import type { Printed } from './printed.ts'

interface PdfLimits {
  /** The time limit of one document, in seconds. */
  readonly seconds: number
  /** The limit of the thread's heap, in megabytes. */
  readonly heapMegabytes: number
  /** The thread ends after this many seconds without a document. */
  readonly idleSeconds: number
}

const defaultLimits: PdfLimits = { seconds: 20, heapMegabytes: 192, idleSeconds: 60 }

export interface PdfMaker {
  /** Throws `BadRequest` for a document that takes too long or too much. */
  make(printed: Printed): Promise<Uint8Array>
}

export function createPdfMaker(limits: PdfLimits = defaultLimits): PdfMaker {
  const turns = createRoom({ perOwnerMax: 1, sumMax: 1 })
  let worker: Worker | undefined
  let idle: NodeJS.Timeout | undefined

  function start(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './pdf-thread.ts' : './pdf-thread.js'
    const made = new Worker(new URL(file, import.meta.url), {
      resourceLimits: {
        maxOldGenerationSizeMb: limits.heapMegabytes,
        maxYoungGenerationSizeMb: 24,
      },
    })
    // The next document starts a new thread if this one ends.
    made.on('error', () => end(made))
    return made
  }

  function end(ended: Worker): void {
    if (worker === ended) worker = undefined
    void ended.terminate()
  }

  async function answer(printed: Printed): Promise<PdfAnswer> {
    worker ??= start()
    const started = worker
    const { promise, resolve, reject } = Promise.withResolvers<PdfAnswer>()
    const tooMuch = (what: string): void =>
      reject(
        refuse.BadRequest({
          reason: `The document takes more than the ${what} that a PDF has: ask for its page (Accept: text/html).`,
        }),
      )
    const lost = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') tooMuch(`${limits.heapMegabytes} MB`)
      else reject(error)
    }
    const deadline = setTimeout(() => {
      end(started)
      tooMuch(`${limits.seconds} seconds`)
    }, limits.seconds * 1000)
    started.once('message', resolve).once('error', lost)
    // A document under way keeps the process alive, as any work does.
    started.ref()
    started.postMessage(printed)
    try {
      return await promise
    } finally {
      clearTimeout(deadline)
      started.off('message', resolve).off('error', lost)
      started.unref()
    }
  }

  return {
    make: (printed) =>
      inRoom(turns, '', async () => {
        clearTimeout(idle)
        const answered = await answer(printed)
        const used = worker
        idle = setTimeout(() => used && end(used), limits.idleSeconds * 1000).unref()
        if (answered.kind === 'pdf') return answered.bytes
        throw Object.assign(new Error(answered.message), { stack: answered.stack })
      }),
  }
}
