/** Does a step and returns its refusal instead of throwing it: in a deployment it is the result of one resource. */

import { ApiError } from '#kernel/error.ts'
import { TemplateRefusal } from '#template/plan.ts'
import type { StepError } from '../../resources/deployments/model.ts'

type Attempt<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | {
      readonly kind: 'refused'
      /** Who refused: the plane, or the template's own expressions. */
      readonly by: 'plane' | 'template'
      readonly status: number
      readonly error: StepError
    }

/** Bugs and failures of the store are thrown. */
export async function attempt<T>(
  work: () => Promise<T>,
  isThrown: (refusal: ApiError) => boolean = () => false,
): Promise<Attempt<T>> {
  try {
    return { kind: 'ok', value: await work() }
  } catch (error) {
    if (error instanceof ApiError && !isThrown(error)) {
      return { kind: 'refused', by: 'plane', status: error.status, error: errorOf(error) }
    }
    if (error instanceof TemplateRefusal) {
      const refusal = { code: 'InvalidTemplate', message: error.message }
      return { kind: 'refused', by: 'template', status: 400, error: refusal }
    }
    throw error
  }
}

/** While nothing is made yet: who asks too much is told to come again, and not that the template is wrong. 429 is thrown. */
export function attemptPreview<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  return attempt(work, ({ status }) => status === 429)
}

export function errorOf({ code, message, extra }: ApiError): StepError {
  return { code, message, ...(extra.details === undefined ? {} : { details: extra.details }) }
}
