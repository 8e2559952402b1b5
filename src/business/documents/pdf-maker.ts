/**
 * Makes PDFs in processes of their own, so that no document blocks the server, one at a time for each owner: a principal, or a company
 * whose mail it is.
 */

import type { Awaited } from '#kernel/room.ts'
import { beginProcess } from '#threads/begin-process.ts'
import { openThreads, PastLimit, type ThreadLimits } from '#threads/limited-threads.ts'
import { refuse } from '../errors.ts'
import type { Printed } from './printed.ts'

const defaultLimits: ThreadLimits = {
  threadsMax: 2,
  seconds: 20,
  heapMegabytes: 192,
  idleSeconds: 60,
}

export interface PdfMaker {
  /**
   * Throws `BadRequest` for a document that takes too long or too much, and the reason of the signal where nobody waits for it any
   * more before it is begun.
   */
  make(ownerId: string, printed: Printed, awaited?: Awaited): Promise<Uint8Array>
}

export function createPdfMaker(limits = defaultLimits): PdfMaker {
  const file = import.meta.url.endsWith('.ts') ? './pdf-thread.ts' : './pdf-thread.js'
  const threads = openThreads<Printed, Uint8Array>(
    new URL(file, import.meta.url),
    limits,
    beginProcess,
  )
  return {
    async make(ownerId, printed, awaited) {
      try {
        return await threads.ask(ownerId, printed, awaited)
      } catch (error) {
        if (!(error instanceof PastLimit)) throw error
        throw refuse.BadRequest({
          reason: `The document takes more than the ${error.message} that a PDF has: ask for its page (Accept: text/html).`,
        })
      }
    },
  }
}
