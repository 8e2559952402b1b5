/** Deployments: a template carried out at a scope, long-running, as the one who asked for it. */

import { isTerminalState } from '#kernel/operation.ts'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled } from '#plane/declare/reconciled.ts'
import type { DeploymentDependencies } from '../../dependencies.ts'
import {
  expandAt,
  expandStored,
  modelOf,
  requestAt,
  requireLocation,
  storedRequest,
  withSecrets,
} from '../../domain/deployments/engine.ts'
import { deploysTo, type Expanded } from '../../domain/deployments/expand.ts'
import { nestResourcesMax } from '../../domain/deployments/nested-share.ts'
import {
  DeploymentTrees,
  nestedRunIn,
  nestingLimits,
  runIn,
} from '../../domain/deployments/nesting.ts'
import {
  deploymentName,
  fallbackAt,
  repeatedIn,
  requireOwn,
} from '../../domain/deployments/on-error.ts'
import { previewTree } from '../../domain/deployments/preview-tree.ts'
import { listAtScope, siblingsOf } from '../../domain/list-at-scope.ts'
import { refuseDeployment } from '../../errors.ts'
import { deploymentOperations } from '../deployment-operations/resource.ts'
import { deploymentActions } from './actions.ts'
import { type Deployment, type DeploymentRequest, outputsSealContext } from './model.ts'
import { carryOut } from './reconcile.ts'
import { deploymentVersions, type PreparedBody } from './versions/2025-03-01.ts'

const type = 'Resources/deployments'
const keptMax = 800

export function deployments(deps: DeploymentDependencies): readonly ResourceType[] {
  const { services, clock } = deps
  const fresh = freshPlans()
  const trees = new DeploymentTrees()
  return [
    defineReconciled<Deployment>({
      type,
      description:
        'Deployments: templates carried out at a group, a subscription, a management group or the tenant.',
      scope: 'any',
      query: { list: ['$filter'] },
      protocol: {
        // Published command lines send a template as it stands in its file.
        bodySyntax: 'relaxed',
      },
      name: deploymentName,
      versions: deploymentVersions,
      verbs: ['get', 'list', 'put', 'delete'],
      // By this very body a run is known that a deployment began.
      preparesUndeclared: true,
      async prepare(context, body: unknown): Promise<PreparedBody> {
        const { id, principal, correlationId, now } = context
        const nested = nestedRunIn(body)
        if (nested !== undefined) trees.admit(nested)
        // A nested deployment is sent by one that was accepted.
        const isAccepted = nested !== undefined
        const again = repeatedIn(body)
        if (again !== undefined) requireOwn(context, { id, model: again.model })
        const request =
          again === undefined
            ? await requestAt(deps, { id, context, isAccepted }, body)
            : againWith(deps, id, again.model)
        if (nested === undefined) requireLocation(deps, id, request)
        const onError = await fallbackAt(context, id, request, nested !== undefined)
        const run = nested?.run ?? again?.run ?? runIn(body) ?? deps.ids.uuid()
        const at = { run, startedAt: now }
        const occasion = { id, deployer: principal, ...at, isAccepted, isNested: isAccepted }
        const given = nested?.secrets ?? []
        const expanded = withSecrets(await expandAt(deps, request, occasion), given)
        const share = nested?.nesting.share ?? nestResourcesMax
        // The whole tree was looked at when its root was sent; here only this level may have become known.
        const depth = nested === undefined ? 0 : nestingLimits.depth
        await previewTree(deps, context, {
          id,
          expanded,
          share,
          depth,
          validation: request.validationLevel,
          isSentNext: true,
        })
        fresh.keep(at.run, expanded)
        const by = { deployer: principal, correlationId }
        const deployment = modelOf(deps, id, {
          onError,
          request,
          expanded,
          given,
          ...by,
          ...at,
        })
        return {
          deployment:
            nested === undefined ? deployment : { ...deployment, nesting: nested.nesting },
        }
      },
      async rules({ id, desired, previous, reader: inside }) {
        requireSameLocation(nameOf(id), previous?.location, desired.location)
        if (previous !== undefined) return []
        const under = siblingsOf(id)
        if (await inside.hasRoom({ type, under, limit: keptMax })) return []
        throw refuseDeployment.DeploymentQuotaExceeded({ limit: keptMax })
      },
      deleteRules({ resource }) {
        if (resource !== undefined && !isTerminalState(resource.state)) {
          throw refuseDeployment.DeploymentActive({ name: nameOf(resource.id) })
        }
      },
      notFound: (id) => refuseDeployment.DeploymentNotFound({ name: nameOf(id) }),
      busy: ({ id }) => refuseDeployment.DeploymentActive({ name: nameOf(id) }),
      reconcile: carryOut({
        caller: services.caller,
        listTracked: (query) => services.listTracked(query),
        asRecorded: (request) => services.asRecorded(request),
        reader: services.reader,
        onSettled: (callback, signal) => services.onSettled(callback, signal),
        clock,
        sealOutputs: (text, idKey, run) => deps.seal.seal(text, outputsSealContext(idKey, run)),
        openOutputs: (sealed, idKey, run) => deps.seal.open(sealed, outputsSealContext(idKey, run)),
        expand: async (id, model) => fresh.take(model.run) ?? expandStored(deps, id, model),
      }),
      actions: deploymentActions(deps),
      list: { page: (context) => listAtScope(type, context) },
    }),
    ...deploymentOperations(
      deps.words,
      deploymentVersions.map((version) => version.date),
    ),
  ]
}

/** As it was carried out the first time; as published, what it does not name goes where that can be. */
function againWith(
  deps: DeploymentDependencies,
  id: ResourceId,
  model: Deployment,
): DeploymentRequest {
  const isGroup = deploysTo(id, deps.words) === 'group'
  const { tags, validationLevel } = model
  return {
    ...storedRequest(deps, id, model),
    mode: isGroup ? 'Complete' : 'Incremental',
    ...(tags === undefined ? {} : { tags }),
    ...(validationLevel === undefined ? {} : { validationLevel }),
  }
}

function requireSameLocation(name: string, existing?: string, location?: string): void {
  if (existing === undefined || location === undefined) return
  if (existing.toLowerCase() === location.toLowerCase()) return
  throw refuseDeployment.InvalidDeploymentLocation({ name, existing, location })
}

/** As many as are likely to be taken up by this process right after they were accepted. */
const freshMax = 8

interface FreshPlans {
  keep(run: string, expanded: Expanded): void
  take(run: string): Expanded | undefined
}

/** Plans that were just made for the request: whoever carries them out here need not make them once more. */
function freshPlans(): FreshPlans {
  const plans = new Map<string, Expanded>()
  return {
    keep(run, expanded) {
      expanded.plan.accept()
      plans.set(run, expanded)
      const [oldest] = plans.keys()
      if (plans.size > freshMax && oldest !== undefined) plans.delete(oldest)
    },
    take(run) {
      const plan = plans.get(run)
      plans.delete(run)
      return plan
    },
  }
}
