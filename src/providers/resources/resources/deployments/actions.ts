/**
 * The actions cancel, validate, whatIf, exportTemplate and the listing of outputs. Only the first changes
 * something: the deployment.
 */

import Type from 'typebox'
import { parseExactJson } from '#kernel/exact-json.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { nameOf } from '#kernel/resource-id.ts'
import type { Action } from '#plane/declare/action.ts'
import { addedEach } from '#plane/declare/added.ts'
import type { DeploymentDependencies } from '../../dependencies.ts'
import { expandAt, modelOf, requestAt, requireLocation } from '../../domain/deployments/engine.ts'
import { fallbackAt } from '../../domain/deployments/on-error.ts'
import { previewTree } from '../../domain/deployments/preview-tree.ts'
import { showDeployment } from '../../domain/deployments/show.ts'
import {
  type Change,
  diagnosticsOf,
  occasionOf,
  shortOf,
  whatIf,
} from '../../domain/deployments/what-if.ts'
import { refuseDeployment } from '../../errors.ts'
import { type Deployment, outputsSealContext, type Progress } from './model.ts'
import { deploymentBody } from './versions/2025-03-01.ts'

export function deploymentActions(
  deps: DeploymentDependencies,
): Readonly<Record<string, Action<Deployment>>> {
  return {
    cancel: {
      method: 'POST',
      description: 'Cancel a deployment that is running; what it has made stays',
      endsWork: true,
      writes: true,
      whileRunning: true,
      run({ resource, id }) {
        const { state } = resource
        if (isTerminalState(state)) {
          throw refuseDeployment.DeploymentNotActive({ name: nameOf(id), state })
        }
        return Promise.resolve({ status: 204, model: { ...resource.model, canceled: true } })
      },
    },
    validate: {
      method: 'POST',
      description: 'Check a template and what would become of each of its resources',
      body: deploymentBody,
      answer: Type.Object({
        ...addedEach({ id: Type.String(), name: Type.String(), type: Type.String() }),
        properties: Type.Object({}),
      }),
      unstored: true,
      async run(context, body: unknown) {
        const { id, principal, correlationId, now } = context
        const request = await requestAt(deps, { id, context }, body)
        requireLocation(deps, id, request)
        const at = { run: deps.ids.uuid(), startedAt: now }
        const expanded = await expandAt(deps, request, occasionOf(context, at.run))
        const by = { deployer: principal, correlationId }
        const onError = await fallbackAt(context, id, request, false)
        const model = modelOf(deps, id, { onError, request, expanded, ...by, ...at })
        const validatedResources: { readonly id: string }[] = []
        const validation = request.validationLevel
        await previewTree(deps, context, { id, expanded, validation }, ({ node }) => {
          validatedResources.push({ id: node.id })
        })
        expanded.plan.release()
        const shown = showDeployment(model, 'Succeeded', undefined)
        const { outputResources: _none, ...properties } = shown['properties'] as Record<
          string,
          unknown
        >
        return {
          status: 200,
          body: {
            id: context.id.text,
            name: nameOf(context.id),
            type: `${deps.words.namespace}.Resources/deployments`,
            ...shown,
            properties: { ...properties, validatedResources },
          },
        }
      },
    },
    whatIf: {
      method: 'POST',
      description: 'Show what a deployment would change, property by property',
      body: deploymentBody,
      answer: Type.Object({ status: Type.String(), properties: Type.Object({}) }),
      unstored: true,
      countsAsRead: true,
      async run(context, body: unknown) {
        const request = await requestAt(deps, { id: context.id, context }, body)
        requireLocation(deps, context.id, request)
        await fallbackAt(context, context.id, request, false)
        const changes = await whatIf(deps, context, request)
        return {
          status: 200,
          body: {
            status: 'Succeeded',
            properties: {
              correlationId: context.correlationId,
              changes: resultFormat(body) === 'ResourceIdOnly' ? idsOnly(changes) : changes,
              potentialChanges: [],
              diagnostics: diagnosticsOf(changes),
            },
          },
        }
      },
    },
    listOutputsWithSecureValues: {
      method: 'POST',
      description: 'The values of all outputs, those too that are not shown',
      answer: Type.Object({}, { additionalProperties: true }),
      revealsSecret: true,
      countsAsRead: true,
      async run({ resource, id }) {
        if (resource === undefined) {
          throw refuseDeployment.DeploymentNotFound({ name: nameOf(id) })
        }
        const { run } = resource.model
        // Only the reconciler of this type writes it.
        const progress = resource.observed as Progress | undefined
        const isDone = resource.state === 'Succeeded' && progress?.run === run
        const { outputs = {}, sealedOutputs } = isDone ? progress : {}
        const opened =
          sealedOutputs === undefined
            ? '{}'
            : deps.seal.open(sealedOutputs, outputsSealContext(id.key, run))
        if (opened === undefined) throw new Error(`the outputs of ${id.text} cannot be opened`)
        const shown = Object.entries(outputs).flatMap(([name, one]) =>
          'value' in one ? [[name, one.value] as const] : [],
        )
        // Only the reconciler seals this.
        const hidden = parseExactJson(opened) as object
        return { status: 200, body: { ...Object.fromEntries(shown), ...hidden } }
      },
    },
    exportTemplate: {
      method: 'POST',
      description: 'The template of a deployment as it was given',
      answer: Type.Object({ template: Type.Object({}) }),
      countsAsRead: true,
      run: ({ resource }) =>
        Promise.resolve({ status: 200, body: { template: resource?.model.template ?? {} } }),
    },
  }
}

function resultFormat(body: unknown): unknown {
  const properties = isJsonObject(body) ? body['properties'] : undefined
  const settings = isJsonObject(properties) ? properties['whatIfSettings'] : undefined
  return isJsonObject(settings) ? settings['resultFormat'] : undefined
}

/** Without the content of a change, its type is unknown. */
function idsOnly(changes: readonly Change[]): readonly Change[] {
  return changes.map((change) => {
    const { changeType } = change
    const isDeployed = ['Create', 'Modify', 'NoChange'].includes(changeType)
    return { ...shortOf(change), changeType: isDeployed ? 'Deploy' : changeType }
  })
}
