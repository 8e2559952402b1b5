/**
 * The comment a run writes on the table it publishes, in the same transaction. By it, a continued run knows that it
 * has published.
 */

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

/** The marker of this very run, or undefined. */
export function parseMarker(comment: string | null, task: CopyTask): CompletionMarker | undefined {
  if (comment === null || !comment.startsWith('{"armature":')) return undefined
  try {
    // `writeMark` writes it; another comment fails the comparison below.
    const marker = JSON.parse(comment) as CompletionMarker
    return marker.armature === task.token && marker.run === task.run ? marker : undefined
  } catch {
    // JSON.parse reports bad text only by throwing.
    return undefined
  }
}
