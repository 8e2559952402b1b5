/** The thread that lays PDFs out: one document after the other, each answered, until it is ended. */

import { parentPort } from 'node:worker_threads'
import type { Printed } from './printed.ts'
import { asPdf } from './printed-pdf.ts'

export type PdfAnswer =
  | { readonly kind: 'pdf'; readonly bytes: Uint8Array }
  | { readonly kind: 'fault'; readonly message: string; readonly stack: string | undefined }

async function answered(printed: Printed): Promise<PdfAnswer> {
  try {
    return { kind: 'pdf', bytes: await asPdf(printed) }
  } catch (error) {
    // Errors lose their class on the way.
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    return { kind: 'fault', message, stack }
  }
}

parentPort?.on('message', async (printed: Printed) => {
  parentPort?.postMessage(await answered(printed))
})
