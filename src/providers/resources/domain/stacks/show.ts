/** The wire form of a deployment stack. */

import type { DeploymentStack, StackProgress } from '../../resources/deployment-stacks/model.ts'
import { durationOf } from '../deployments/show.ts'

export function showStack(
  model: DeploymentStack,
  state: string,
  progress: StackProgress | undefined,
): Readonly<Record<string, unknown>> {
  const { location, tags, templateLink, deploymentScope, description } = model
  const { resources = [], deleted = [], detached = [], failed = [] } = progress ?? {}
  const { outputs, error, endedAt = model.startedAt } = progress ?? {}
  return {
    ...(location === undefined ? {} : { location }),
    ...(tags === undefined ? {} : { tags }),
    properties: {
      // As published: in lower camel case, unlike other types.
      provisioningState: state.charAt(0).toLowerCase() + state.slice(1),
      correlationId: model.correlationId,
      deploymentId: model.deploymentId,
      ...(deploymentScope === undefined ? {} : { deploymentScope }),
      ...(description === undefined ? {} : { description }),
      duration: durationOf(endedAt - model.startedAt),
      actionOnUnmanage: model.actionOnUnmanage,
      denySettings: model.denySettings,
      ...(model.bypassStackOutOfSyncError === true ? { bypassStackOutOfSyncError: true } : {}),
      ...(model.debugLevel === undefined
        ? {}
        : { debugSetting: { detailLevel: model.debugLevel } }),
      ...(templateLink === undefined ? {} : { templateLink }),
      parameters: model.parameters,
      ...(outputs === undefined ? {} : { outputs }),
      resources: resources.map(({ id, status, denyStatus }) => ({ id, status, denyStatus })),
      deletedResources: deleted.map((id) => ({ id })),
      detachedResources: detached.map((id) => ({ id })),
      failedResources: failed,
      ...(state === 'Failed' && error !== undefined ? { error } : {}),
    },
  }
}
