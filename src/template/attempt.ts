/** Does one evaluation and answers its failure, or that it must wait, instead of throwing it. Faults are thrown on. */
import type { Expansion, Notes } from './expansion.ts'
import type { Json } from './plan.ts'
import { EvaluationError, Unanswered } from './scope.ts'

/** What became of one expression. */
export type Attempt =
  | { readonly kind: 'value'; readonly value: Json; readonly notes: Notes }
  | { readonly kind: 'waiting'; readonly notes: Notes }
  | { readonly kind: 'failed'; readonly error: EvaluationError; readonly notes: Notes }

/** Runs work that may fail or wait, and tells what it noticed meanwhile. What it noticed is noticed outside too. */
export function attempt(scope: { readonly expansion: Expansion }, work: () => Json): Attempt {
  const { expansion } = scope
  const outer = expansion.notes
  const notes: Notes = { isSecure: false, needs: new Map() }
  expansion.notes = notes
  try {
    return { kind: 'value', value: work(), notes }
  } catch (error) {
    if (error instanceof Unanswered) return { kind: 'waiting', notes }
    if (error instanceof EvaluationError) return { kind: 'failed', error, notes }
    // Every depth is bounded, but values, functions and expressions inside each other can exceed the stack together.
    if (error instanceof RangeError && error.message.includes('call stack')) {
      return { kind: 'failed', error: new EvaluationError('this is nested too deeply'), notes }
    }
    throw error
  } finally {
    expansion.notes = outer
    outer.isSecure ||= notes.isSecure
  }
}
