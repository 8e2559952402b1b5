/** What became of each resource of a deployment: computed of its record, at the paths of facts 5. */

import { refuse } from '#kernel/error.ts'
import {
  extensionOf,
  fromSegments,
  nameOf,
  parentOf,
  type ResourceId,
  resourceGroupIdOf,
  resourceGroupOf,
  subscriptionIdOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { type Context, defineResource, type Resource, type ResourceType } from '#plane/define.ts'
import { uuidOf } from './evaluation/uuid-of.ts'
import type { Deployment, Progress } from './model.ts'
import { showStep } from './show.ts'

/** At a group and at a subscription: two paths of one thing. */
export function deploymentOperations(
  words: VendorWords,
  versions: readonly string[],
): readonly ResourceType[] {
  return ['Resources/subscriptions/resourceGroups', 'Resources/subscriptions'].map((scope) =>
    defineResource({
      type: `${scope}/deployments/operations`,
      wireType: 'Resources/deployments/operations',
      permission: 'Resources/deployments/operations',
      description: 'What became of each resource of a deployment.',
      scope: 'implied',
      tracked: false,
      name: { pattern: /^[0-9a-f-]{36}$/i, rule: 'an id from the list of operations' },
      versions: [],
      apiVersions: versions,
      source: {
        async get(context) {
          const all = await stepsOf(context, parentOf(context.id), words)
          return all.find((one) => one.operationId === nameOf(context.id).toLowerCase())?.item
        },
        async list(context) {
          const all = await stepsOf(context, context.parent, words)
          const from = context.cursor === undefined ? 0 : Number(context.cursor)
          const to = from + context.limit
          return {
            items: all.slice(from, to).map(({ item }) => item),
            ...(to < all.length ? { next: String(to) } : {}),
          }
        },
      },
    }),
  )
}

/** `…/deployments/{name}` without `providers`, as the deployment itself is stored. */
export function storedIdOf(plain: ResourceId, words: VendorWords): ResourceId {
  const subscription = subscriptionOf(plain) ?? ''
  const group = resourceGroupOf(plain)
  const scope =
    group === undefined ? subscriptionIdOf(subscription) : resourceGroupIdOf(subscription, group)
  return extensionOf(scope, `${words.namespace}.Resources`, ['deployments'], [nameOf(plain)])
}

async function stepsOf(
  context: Context,
  plain: ResourceId,
  words: VendorWords,
): Promise<readonly { operationId: string; item: object }[]> {
  const id = storedIdOf(plain, words)
  // Rows of this type were made by its `toModel`.
  const found = (await context.reader.get(id)) as Resource<Deployment> | undefined
  if (found === undefined) throw refuse.ResourceNotFound({ id: id.text })
  const progress = found.observed as Progress | undefined
  if (progress?.run !== found.model.run) return []
  return progress.steps.map((step) => {
    const operationId = uuidOf(`${progress.run} ${step.key}`)
    const path = `${fromSegments(plain.segments).text}/operations/${operationId}`
    return { operationId, item: showStep(step, path, operationId, words) }
  })
}
