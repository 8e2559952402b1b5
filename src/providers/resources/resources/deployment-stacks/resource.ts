/** Deployment stacks: a deployed template whose resources are protected and removed together. */

import type { ApiError } from '#kernel/error.ts'
import { parseExactJson } from '#kernel/exact-json.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { isWithin, nameOf, parseResourceId, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled } from '#plane/declare/reconciled.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { RightElsewhere } from '#plane/declare/stored.ts'
import type { JsonObject } from '#template/plan.ts'
import type { DeploymentDependencies } from '../../dependencies.ts'
import { previewTree } from '../../domain/deployments/preview-tree.ts'
import { listAtScope, siblingsOf } from '../../domain/list-at-scope.ts'
import { manageAction } from '../../domain/stacks/deny.ts'
import {
  deniedBy,
  prepareStack,
  requireDenyRight,
  storedStack,
  unmanageActionsIn,
  versionFrom,
} from '../../domain/stacks/request.ts'
import { refuseDeployment } from '../../errors.ts'
import { stackActions } from './actions.ts'
import { type DeploymentStack, stackSealContext, stackType } from './model.ts'
import { carryOutStack } from './reconcile.ts'
import { type PreparedStack, stackVersions } from './versions/2024-03-01.ts'

const keptMax = 800

export function deploymentStacks(deps: DeploymentDependencies): ResourceType {
  const { services, clock, words } = deps
  return defineReconciled<DeploymentStack>({
    type: stackType,
    description:
      'Deployment stacks: templates whose resources are protected, and taken away, together.',
    scope: 'any',
    query: { list: ['$filter'] },
    protocol: { bodySyntax: 'relaxed' },
    name: { pattern: /^[-\w._()]{1,90}$/, rule: '1 to 90 letters, digits, or any of "-._()"' },
    versions: stackVersions,
    verbs: ['get', 'list', 'put', 'delete'],
    preparesUndeclared: true,
    async prepare(context, body: never): Promise<PreparedStack> {
      const { id, principal, correlationId, now } = context
      const { settings, request, expanded, deploymentId, acting, run, memberId } =
        await prepareStack(deps, context, body)
      const validation = request.validationLevel
      await previewTree(deps, acting, { id: deploymentId, expanded, validation })
      const { template, templateLink, location, tags, debugLevel } = request
      return {
        stack: {
          ...settings,
          run,
          deployer: principal,
          correlationId,
          startedAt: now,
          template,
          ...(templateLink === undefined ? {} : { templateLink }),
          ...(location === undefined ? {} : { location }),
          ...(tags === undefined ? {} : { tags }),
          ...(debugLevel === undefined ? {} : { debugLevel }),
          sealedParameters: deps.seal.seal(
            expanded.texts.parameters,
            stackSealContext(id.key, run),
          ),
          parameters: expanded.plan.parameters,
          deploymentId: deploymentId.text,
          memberId,
        },
      }
    },
    rightsElsewhere: (id) => [{ action: manageAction, scope: id }],
    async rules(context) {
      const { id, desired, previous, reader } = context
      // It may deny since `prepare` saw it.
      await requireDenyRight(context, id, desired, await storedStack(reader, id))
      requireSameLocation(id, previous?.location, desired.location)
      if (previous !== undefined) return []
      const query = { type: stackType, under: siblingsOf(id), limit: keptMax }
      if (await reader.hasRoom(query)) return []
      throw refuseDeployment.DeploymentStackQuotaExceeded({ limit: keptMax })
    },
    rightsToDelete: (id) => [{ action: manageAction, scope: id }],
    rightsToDeleteAbove: heldElsewhere,
    async deleteRules(context) {
      const { resource, query } = context
      unmanageActionsIn(query)
      if (resource === undefined) return
      if (!isTerminalState(resource.state)) throw busy(resource.id, resource.state)
      await requireDenyRight(context, resource.id, undefined, resource)
    },
    busy: ({ id, state }) => busy(id, state),
    notFound: (id) =>
      refuseDeployment.DeploymentStackNotFound({ name: nameOf(id), scope: scopeOf(id).text }),
    reconcile: carryOutStack({
      caller: services.caller,
      reader: services.reader,
      listTracked: (query) => services.listTracked(query),
      storeAsSystem: (id, version, body) => services.storeAsSystem(id, version, body),
      isAllowed: (principal, action, scope) => services.isAllowed(principal, action, scope),
      onSettled: (callback, signal) => services.onSettled(callback, signal),
      clock,
      words,
      parametersOf: (id, model) => argumentsOf(deps, id, model),
      versionOf: (id) => versionFrom(deps.offers?.() ?? {}, id),
    }),
    actions: stackActions(deps),
    list: { page: (context) => listAtScope(stackType, context) },
  })
}

/** As for a DELETE of the stack itself, and of its deny assignments at what it manages outside of the scope. */
function heldElsewhere(
  { id, model, observed }: Resource<DeploymentStack>,
  scope: ResourceId,
): readonly RightElsewhere[] {
  const denied = deniedBy({ observed }).flatMap((one) => {
    const resource = parseResourceId(one)
    return resource === undefined || isWithin(resource.key, scope.key) ? [] : [resource]
  })
  const own = denied.length > 0 || model.denySettings.mode !== 'none' ? [id] : []
  return [...own, ...denied].map((scope) => ({ action: manageAction, scope }))
}

function argumentsOf(
  { seal }: Pick<DeploymentDependencies, 'seal'>,
  id: ResourceId,
  { sealedParameters, run }: DeploymentStack,
): JsonObject {
  const opened = seal.open(sealedParameters, stackSealContext(id.key, run))
  if (opened === undefined) throw new Error(`the arguments of ${id.text} cannot be opened`)
  // Only `prepare` seals this.
  return parseExactJson(opened) as JsonObject
}

function busy(id: ResourceId, state: string): ApiError {
  return refuseDeployment.DeploymentStackInNonTerminalState({ name: nameOf(id), state })
}

function requireSameLocation(id: ResourceId, existing?: string, location?: string): void {
  if (existing === undefined || location === undefined) return
  if (existing.toLowerCase() === location.toLowerCase()) return
  throw refuseDeployment.InvalidDeploymentLocation({ name: nameOf(id), existing, location })
}
