/**
 * How much an evaluation may do and produce, so that a small template cannot take the time or the memory of
 * the server. It measures steps and characters, never the clock: the same template always ends the same way.
 */
import { EvaluationError } from './scope.ts'

const evaluationLimits = {
  /** Nodes evaluated, elements visited and compared. */
  steps: 5_000_000,
  /** Characters produced altogether, also by values that are thrown away. An element counts as eight. */
  produced: 64 * 1024 * 1024,
  /** Characters of one text; of one array an eighth as many elements. */
  value: 4 * 1024 * 1024,
} as const

/** A budget that is spent from several places. Who finds it empty throws `EvaluationError`. */
export class EvaluationQuota {
  #steps: number
  #produced: number

  constructor(limits: { readonly steps?: number; readonly produced?: number } = {}) {
    this.#steps = limits.steps ?? evaluationLimits.steps
    this.#produced = limits.produced ?? evaluationLimits.produced
  }

  /** Before that many nodes, elements or the like are visited. */
  spend(steps: number): void {
    this.#steps -= steps
    if (this.#steps < 0) {
      throw new EvaluationError('the expressions take more steps than are allowed')
    }
  }

  /** Before a text of so many characters is made. */
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

  /** Before an array of so many elements, or an object of so many properties, is made. */
  produceElements(count: number): void {
    if (count * 8 > evaluationLimits.value) {
      throw new EvaluationError(
        `a value has at most ${evaluationLimits.value / 8} elements; this would have ${count}`,
      )
    }
    this.produce(count * 8)
  }
}
