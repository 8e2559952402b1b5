/**
 * The comment a run writes on the table it publishes, in the same transaction. By it, a continued run knows that it
 * has published.
 */

import type { CopyTask } from '../engine.ts'
import { watermarkCharactersMax } from './postgres-source.ts'

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
    // `formatMarker` writes it; another comment fails what is asked of it below.
    const marker = JSON.parse(comment) as CompletionMarker
    const isOfRun = marker.armature === task.token && marker.run === task.run
    return isOfRun && isSound(marker) ? marker : undefined
  } catch {
    // JSON.parse reports bad text only by throwing.
    return undefined
  }
}

/** Whoever may write comments on the table can write one that looks like it, and what it says goes into messages and rows. */
function isSound({ rows, bytes, watermark = '' }: CompletionMarker): boolean {
  const areCounts = [rows, bytes].every((count) => Number.isSafeInteger(count) && count >= 0)
  return areCounts && typeof watermark === 'string' && watermark.length <= watermarkCharactersMax
}
