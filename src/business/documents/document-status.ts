/** The states of documents, and what each allows (business facts 9.2). Pure. */

import type { DocumentRow } from '../tables.ts'

type State = Pick<DocumentRow, 'kind' | 'status'>

/**
 * Whether lines of this type may be written. No state of a quote closes it; comments can be written during a
 * review.
 */
export function linesAreOpen(document: State, lineType: string): boolean {
  if (document.kind === 'quote') return true
  if (document.status === 'Draft') return true
  return document.status === 'In Review' && lineType === 'Comment'
}

/** Whether the document was posted. A quote never is. */
export function isPosted(document: State): boolean {
  const { kind, status } = document
  return kind !== 'quote' && status !== 'Draft' && status !== 'In Review'
}
