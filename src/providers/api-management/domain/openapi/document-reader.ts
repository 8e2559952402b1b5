/** Reads OpenAPI documents: small ones in JSON at once, all others in worker threads with limits of time and memory. */

import type { Awaited } from '#kernel/room.ts'
import { openThreads, PastLimit, type ThreadLimits } from '#threads/limited-threads.ts'
import { type ImportedApi, isJsonText, readOpenApi } from './import.ts'

/** Takes a millisecond. */
const lengthAtOnceMax = 32 * 1024

const defaultLimits: ThreadLimits = {
  threadsMax: 2,
  seconds: 10,
  heapMegabytes: 256,
  idleSeconds: 60,
}

export interface DocumentReader {
  /** The API of a document, or what is wrong with it. */
  read(text: string, principalId: string, awaited?: Awaited): Promise<ImportedApi | string>
}

export function createDocumentReader(limits = defaultLimits): DocumentReader {
  const file = import.meta.url.endsWith('.ts') ? './import-thread.ts' : './import-thread.js'
  const threads = openThreads<string, string>(new URL(file, import.meta.url), limits)
  return {
    async read(text, principalId, awaited) {
      if (text.length <= lengthAtOnceMax && isJsonText(text)) return readOpenApi(text)
      try {
        // It comes from `readOpenApi`.
        return JSON.parse(await threads.ask(principalId, text, awaited)) as ImportedApi | string
      } catch (error) {
        if (!(error instanceof PastLimit)) throw error
        return `it takes more than the ${error.message} that a document has: send less, or JSON`
      }
    },
  }
}
