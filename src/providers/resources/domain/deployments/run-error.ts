/** The error of a deployment of which something failed. */

import type { ErrorDetail } from '#kernel/error.ts'
import type { StepError, StepRecord } from '../../resources/deployments/model.ts'

/** Why the fallback failed as well. */
export function withCause(error: StepError, fallback: StepError | undefined): StepError {
  if (fallback === undefined) return error
  const { code, message } = fallback
  const detail = { code, message, target: 'onErrorDeployment' }
  return { ...error, details: [...(error.details ?? []), detail] }
}

export function failedError(failed: readonly StepRecord[]): StepError {
  const details: ErrorDetail[] = failed.map(({ id, error }) => ({
    code: error?.code ?? 'ResourceDeploymentFailure',
    message: error?.message ?? 'failed',
    target: id,
  }))
  const first = details[0]
  const message = `At least one resource deployment operation failed. ${first?.target}: ${first?.message}`
  return { code: 'DeploymentFailed', message, details }
}
