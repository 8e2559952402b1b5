/** The states of documents and what each allows (business facts 9.2). Pure. */

import type { DocumentRow } from '../tables.ts'

type State = Pick<DocumentRow, 'kind' | 'status'>

/** May lines of this type be written? Quotes have no state that closes them; comments stay open in a review. */
export function linesAreOpen(document: State, lineType: string): boolean {
  if (document.kind === 'quote') return true
  if (document.status === 'Draft') return true
  return document.status === 'In Review' && lineType === 'Comment'
}

/** Has the document been posted? A quote never is. */
export function isPosted(document: State): boolean {
  const { kind, status } = document
  return kind !== 'quote' && status !== 'Draft' && status !== 'In Review'
}
