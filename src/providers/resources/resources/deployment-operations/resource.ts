/** Operations of a deployment: the result of each of its resources, computed from its record (template facts 5). */

import Type from 'typebox'
import { fromSegments, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context, Resource } from '#plane/declare/resource.ts'
import { showStep } from '../../domain/deployments/show.ts'
import { storedIdOf } from '../../domain/deployments/stored-id.ts'
import { uuidOf } from '../../domain/evaluation/uuid-of.ts'
import { refuseDeployment } from '../../errors.ts'
import type { Deployment, Progress } from '../deployments/model.ts'

const text = Type.String()
const whatever = Type.Record(Type.String(), Type.Unknown())
const answer = Type.Object({
  operationId: text,
  properties: Type.Object({
    provisioningOperation: text,
    provisioningState: text,
    timestamp: text,
    duration: text,
    statusCode: text,
    statusMessage: Type.Optional(Type.Object({ error: whatever })),
    request: Type.Optional(Type.Object({ content: Type.Unknown() })),
    response: Type.Optional(Type.Object({ content: Type.Unknown() })),
    targetResource: Type.Object({ id: text, resourceType: text, resourceName: text }),
  }),
})

/** At a group, at a subscription, and below the record: three paths of the same thing. */
export function deploymentOperations(
  words: VendorWords,
  versions: readonly string[],
): readonly ResourceType[] {
  const scopes = ['Resources/subscriptions/resourceGroups', 'Resources/subscriptions', 'Resources']
  return scopes.map((scope) =>
    defineComputed({
      type: `${scope}/deployments/operations`,
      wireType: 'Resources/deployments/operations',
      permission: 'Resources/deployments/operations',
      description: 'What became of each resource of a deployment.',
      scope: scope === 'Resources' ? 'any' : 'implied',
      apiVersions: versions,
      answer: added(answer),
      source: {
        async get(context) {
          const all = await stepsOf(context, parentOf(context.id), words)
          const name = nameOf(context.id).toLowerCase()
          return all.find((one) => one.operationId() === name)?.item()
        },
        async list(context) {
          const all = await stepsOf(context, context.parent, words)
          const from = context.cursor === undefined ? 0 : Number(context.cursor)
          const to = from + context.limit
          return {
            items: all.slice(from, to).map(({ item }) => item()),
            ...(to < all.length ? { next: String(to) } : {}),
          }
        },
      },
    }),
  )
}

/** There may be thousands, of which a page shows some. */
async function stepsOf(
  context: Context,
  plain: ResourceId,
  words: VendorWords,
): Promise<readonly { operationId(): string; item(): object }[]> {
  const id = storedIdOf(plain, words)
  // The type's `toModel` made the rows.
  const found = (await context.reader.get(id)) as Resource<Deployment> | undefined
  if (found === undefined) throw refuseDeployment.DeploymentNotFound({ name: nameOf(id) })
  const progress = found.observed as Progress | undefined
  if (progress?.run !== found.model.run) return []
  const under = `${fromSegments(plain.segments).text}/operations/`
  return progress.steps.map((step) => {
    const operationId = () => uuidOf(`${progress.run} ${step.key}`)
    const item = () => {
      const name = operationId()
      return showStep(step, `${under}${name}`, name, words)
    }
    return { operationId, item }
  })
}
