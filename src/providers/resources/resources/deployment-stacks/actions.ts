/** The actions validate, whatIf and exportTemplate of stacks. None of them changes anything. */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { nameOf, parseResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Action } from '#plane/declare/action.ts'
import type { DeploymentDependencies } from '../../dependencies.ts'
import { previewTree } from '../../domain/deployments/preview-tree.ts'
import { type Change, type Leftovers, whatIf } from '../../domain/deployments/what-if.ts'
import { kindOf } from '../../domain/stacks/managed.ts'
import { prepareStack } from '../../domain/stacks/request.ts'
import { type DeploymentStack, type StackProgress, type StackSettings, stackType } from './model.ts'
import { stackBody } from './versions/2024-03-01.ts'

type StackAction = Action<DeploymentStack>

export function stackActions(deps: DeploymentDependencies): Readonly<Record<string, StackAction>> {
  return {
    validate: {
      method: 'POST',
      description: 'Check a stack, its template and what would become of each of its resources',
      body: stackBody,
      answer: Type.Object({ properties: Type.Object({}) }),
      unstored: true,
      async run(context, body: never) {
        const { id, words, correlationId } = context
        const { settings, request, expanded, deploymentId, acting } = await prepareStack(
          deps,
          context,
          body,
        )
        const validatedResources: { readonly id: string }[] = []
        const root = { id: deploymentId, expanded, validation: request.validationLevel }
        await previewTree(deps, acting, root, ({ node }) => {
          validatedResources.push({ id: node.id })
        })
        const { templateLink } = request
        const properties = {
          ...settings,
          correlationId,
          ...(templateLink === undefined ? {} : { templateLink }),
          parameters: expanded.plan.parameters,
          validatedResources,
        }
        const type = qualify(words, stackType)
        return { status: 200, body: { id: id.text, name: nameOf(id), type, properties } }
      },
    },
    whatIf: {
      method: 'POST',
      description: 'Show what a stack would change, property by property, and what it would let go',
      body: stackBody,
      answer: Type.Object({ status: Type.String(), properties: Type.Object({}) }),
      unstored: true,
      countsAsRead: true,
      async run(context, body: never) {
        const { settings, request, deploymentId, acting } = await prepareStack(deps, context, body)
        // Only the reconciler of this type writes it.
        const observed = context.resource?.observed as StackProgress | undefined
        const managed = observed?.resources ?? []
        const changes = await whatIf(
          deps,
          { ...acting, id: deploymentId },
          request,
          unmanagedBy(managed, settings),
        )
        const { correlationId } = context
        const denySettingsChange = {
          before: context.resource?.model.denySettings ?? { mode: 'none' },
          after: settings.denySettings,
        }
        const properties = { correlationId, changes, denySettingsChange }
        return { status: 200, body: { status: 'Succeeded', properties } }
      },
    },
    exportTemplate: {
      method: 'POST',
      description: 'The template of a stack as it was given',
      answer: Type.Object({ template: Type.Object({}) }),
      countsAsRead: true,
      run({ resource, id }) {
        if (resource === undefined) throw refuse.ResourceNotFound({ id: id.text })
        const { template, templateLink } = resource.model
        const link = templateLink === undefined ? {} : { templateLink }
        return Promise.resolve({ status: 200, body: { template, ...link } })
      },
    },
  }
}

/** What happens to managed resources that the template does not make. */
function unmanagedBy(
  managed: StackProgress['resources'],
  { actionOnUnmanage }: Pick<StackSettings, 'actionOnUnmanage'>,
): Leftovers {
  return async function* left({ made, unknown }) {
    for (const { id: resourceId } of managed) {
      const key = resourceId.toLowerCase()
      const id = parseResourceId(resourceId)
      if (made.has(key) || id === undefined) continue
      const isDeleted = actionOnUnmanage[kindOf(id)] === 'delete'
      const change: Change =
        unknown.length === 0
          ? { resourceId, changeType: isDeleted ? 'Delete' : 'Detach' }
          : {
              resourceId,
              changeType: 'Unsupported',
              unsupportedReason: `what becomes of it depends on a nested deployment that is not known yet: ${unknown[0]}`,
            }
      yield change
    }
  }
}
