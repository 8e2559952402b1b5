/** What a run notes on the table it publishes, in the same transaction: how a run that was cut off knows that it had. */

import type { CopyTask } from '../engine.ts'

export interface TableMark {
  readonly armature: string
  readonly run: string
  readonly rows: number
  readonly bytes: number
  readonly watermark?: string
}

export function writeMark(mark: TableMark): string {
  return JSON.stringify(mark)
}

/** The mark of this very run, or undefined. */
export function readMark(comment: string | null, task: CopyTask): TableMark | undefined {
  if (comment === null || !comment.startsWith('{"armature":')) return undefined
  try {
    // Written by `writeMark`; a comment of somebody else is compared away below.
    const mark = JSON.parse(comment) as TableMark
    return mark.armature === task.token && mark.run === task.run ? mark : undefined
  } catch {
    // JSON.parse has no other way to say no.
    return undefined
  }
}
