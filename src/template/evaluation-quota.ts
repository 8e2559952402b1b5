/**
 * Bounds what an evaluation may do and produce, so that a small template cannot use up the server's time or memory.
 * It counts steps and characters, never time: the same template always has the same result.
 */
import { EvaluationError } from './scope.ts'

const evaluationLimits = {
  /** Nodes evaluated, elements visited and compared. */
  steps: 5_000_000,
  /** Characters produced in total, dropped values included. An element counts as eight. */
  produced: 64 * 1024 * 1024,
  /** Characters of one text; an array may have an eighth as many elements. */
  value: 4 * 1024 * 1024,
} as const

/** A budget that several places spend. A call that exceeds it throws `EvaluationError`. */
export class EvaluationQuota {
  #steps: number
  #produced: number

  constructor(limits: { readonly steps?: number; readonly produced?: number } = {}) {
    this.#steps = limits.steps ?? evaluationLimits.steps
    this.#produced = limits.produced ?? evaluationLimits.produced
  }

  /** Call before visiting that many nodes or elements. */
  spend(steps: number): void {
    this.#steps -= steps
    if (this.#steps < 0) {
      throw new EvaluationError('the expressions take more steps than are allowed')
    }
  }

  /** Call before making a text of that many characters. */
  produce(size: number): void {
    if (size > evaluationLimits.value) {
      throw new EvaluationError(
        `a value has at most ${evaluationLimits.value} characters; this would have ${size}`,
      )
    }
    this.#produced -= size
    if (this.#produced < 0) {
      throw new EvaluationError('the expressions produce more than is allowed')
    }
    this.spend(size >>> 4)
  }

  /** Call before making an array of that many elements, or an object of that many properties. */
  produceElements(count: number): void {
    if (count * 8 > evaluationLimits.value) {
      throw new EvaluationError(
        `a value has at most ${evaluationLimits.value / 8} elements; this would have ${count}`,
      )
    }
    this.produce(count * 8)
  }
}
