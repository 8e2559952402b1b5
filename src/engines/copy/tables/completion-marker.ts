/** What a run notes on the table it publishes, in the same transaction: how a run that was cut off knows that it had. */

import type { CopyTask } from '../engine.ts'

export interface CompletionMarker {
  readonly armature: string
  readonly run: string
  readonly rows: number
  readonly bytes: number
  readonly watermark?: string
}

export function formatMarker(marker: CompletionMarker): string {
  return JSON.stringify(marker)
}

/** The mark of this very run, or undefined. */
export function parseMarker(comment: string | null, task: CopyTask): CompletionMarker | undefined {
  if (comment === null || !comment.startsWith('{"armature":')) return undefined
  try {
    // Written by `writeMark`; a comment of somebody else is compared away below.
    const marker = JSON.parse(comment) as CompletionMarker
    return marker.armature === task.token && marker.run === task.run ? marker : undefined
  } catch {
    // JSON.parse has no other way to say no.
    return undefined
  }
}
