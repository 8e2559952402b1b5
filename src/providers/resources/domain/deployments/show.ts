/** The wire form of a deployment (template facts 5). */

import type { VendorWords } from '#kernel/vendor.ts'
import type { Deployment, Progress, StepRecord } from '../../resources/deployments/model.ts'

export const deploymentCanceled = {
  code: 'DeploymentCanceled',
  message: 'the deployment was canceled',
} as const

export function showDeployment(
  model: Deployment,
  state: string,
  progress: Progress | undefined,
): Readonly<Record<string, unknown>> {
  const seen = progress?.run === model.run ? progress : undefined
  const steps = seen?.steps ?? []
  const endedAt = lastMoment(model, seen)
  const made = steps.filter((step) => step.verb === 'Create' && step.state === 'Succeeded')
  const outputs = state === 'Succeeded' ? seen?.outputs : undefined
  return {
    ...(model.location === undefined ? {} : { location: model.location }),
    ...(model.tags === undefined ? {} : { tags: model.tags }),
    properties: {
      provisioningState: state,
      correlationId: model.correlationId,
      timestamp: new Date(endedAt).toISOString(),
      duration: durationOf(endedAt - model.startedAt),
      mode: model.mode,
      templateHash: model.templateHash,
      ...(model.templateLink === undefined ? {} : { templateLink: model.templateLink }),
      parameters: model.parameters,
      ...(model.onError === undefined
        ? {}
        : {
            onErrorDeployment: {
              type: model.onError.type,
              deploymentName: model.onError.deploymentName,
              ...(seen?.onError === undefined ? {} : { provisioningState: seen.onError.state }),
            },
          }),
      ...(model.debugLevel === undefined
        ? {}
        : { debugSetting: { detailLevel: model.debugLevel } }),
      ...(model.validationLevel === undefined ? {} : { validationLevel: model.validationLevel }),
      providers: (model.providers ?? []).map(({ namespace, types }) => ({
        namespace,
        resourceTypes: types.map((resourceType) => ({
          resourceType,
          locations: model.location === undefined ? [] : [model.location],
        })),
      })),
      dependencies: model.dependencies.map(({ id, dependsOn }) => ({
        dependsOn: dependsOn.map(targetOf),
        ...targetOf(id),
      })),
      outputResources: made.map(({ id }) => ({ id })),
      ...(outputs === undefined ? {} : { outputs }),
      ...errorOf(state, seen),
    },
  }
}

/** A canceled deployment has no failed step, but has an error all the same. */
function errorOf(state: string, seen: Progress | undefined): object {
  if (state === 'Succeeded') return {}
  if (state === 'Canceled') return { error: deploymentCanceled }
  return seen?.error === undefined ? {} : { error: seen.error }
}

function lastMoment(model: Deployment, seen: Progress | undefined): number {
  const moments = (seen?.steps ?? []).map((step) => step.endedAt ?? step.startedAt)
  return moments.reduce((a, b) => Math.max(a, b), Math.max(model.startedAt, seen?.endedAt ?? 0))
}

/** ISO 8601. */
export function durationOf(milliseconds: number): string {
  return `PT${(Math.max(0, milliseconds) / 1000).toFixed(3).replace(/\.?0+$/, '')}S`
}

const statusWords: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'NoContent',
  400: 'BadRequest',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  412: 'PreconditionFailed',
}

export function showStep(
  step: StepRecord,
  id: string,
  operationId: string,
  words: VendorWords,
): object {
  const { verb, state, startedAt, endedAt = startedAt, status = 200, error } = step
  const vendor = `${words.namespace}.Resources`
  return {
    id,
    operationId,
    type: `${vendor}/deployments/operations`,
    properties: {
      provisioningOperation: verb,
      provisioningState: state,
      timestamp: new Date(endedAt).toISOString(),
      duration: durationOf(endedAt - startedAt),
      statusCode: statusWords[status] ?? String(status),
      ...(error === undefined ? {} : { statusMessage: { error } }),
      ...(step.request === undefined ? {} : { request: { content: step.request } }),
      ...(step.response === undefined ? {} : { response: { content: step.response } }),
      targetResource: targetOf(step.id),
    },
  }
}

function targetOf(id: string): object {
  const last = id.split('/providers/').at(-1)?.split('/') ?? []
  const resourceType = [last[0], ...last.slice(1).filter((_, at) => at % 2 === 0)].join('/')
  return { id, resourceType, resourceName: id.slice(id.lastIndexOf('/') + 1) }
}
