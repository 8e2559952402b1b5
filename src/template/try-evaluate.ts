/** Runs one evaluation. A failure, or a value that is not known yet, is returned. Any other error is thrown. */
import type { EvaluationNotes, Expansion } from './expansion.ts'
import type { Json } from './plan.ts'
import { EvaluationError, Unanswered } from './scope.ts'

/** The result of evaluating one expression. */
type EvaluationOutcome =
  | { readonly kind: 'value'; readonly value: Json; readonly notes: EvaluationNotes }
  | { readonly kind: 'waiting'; readonly notes: EvaluationNotes }
  | { readonly kind: 'failed'; readonly error: EvaluationError; readonly notes: EvaluationNotes }

/** `notes` says whether a secure value was used and what must be fetched. The outer evaluation is marked secure too. */
export function tryEvaluate(
  scope: { readonly expansion: Pick<Expansion, 'notes'> },
  work: () => Json,
): EvaluationOutcome {
  const { expansion } = scope
  const outer = expansion.notes
  const notes: EvaluationNotes = { isSecure: false, needs: undefined }
  expansion.notes = notes
  try {
    return { kind: 'value', value: work(), notes }
  } catch (error) {
    if (error instanceof Unanswered) return { kind: 'waiting', notes }
    if (error instanceof EvaluationError) return { kind: 'failed', error, notes }
    // Every depth is bounded, but values, functions and expressions can exceed the stack together.
    if (error instanceof RangeError && error.message.includes('call stack')) {
      return { kind: 'failed', error: new EvaluationError('this is nested too deeply'), notes }
    }
    throw error
  } finally {
    expansion.notes = outer
    outer.isSecure ||= notes.isSecure
  }
}
