/**
 * Tags of a scope as a resource of their own, named `default`: whoever may write tags need not be able to change what
 * they hang on. They are the tags of the subscription, group or resource itself; nothing is stored besides.
 */

import Type, { type Static } from 'typebox'
import { refuse } from '#kernel/error.ts'
import {
  nameOf,
  type ResourceId,
  scopeOf,
  subscriptionIdOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import {
  type ComputedType,
  type ComputedWriteContext,
  defineComputed,
  type GetContext,
} from '#plane/declare/computed.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { tagVersions } from '../../published-versions.ts'
import type { Subscription } from '../subscriptions/model.ts'

type Tags = Readonly<Record<string, string>>

/** Names and values are checked where every type's tags are. */
const tags = Type.Record(Type.String(), Type.String())
const properties = Type.Object({ tags: Type.Optional(tags) })
const body = Type.Object({ properties })
const patchBody = Type.Object({
  operation: Type.Enum(['Merge', 'Replace', 'Delete']),
  properties: Type.Optional(properties),
})

export function tagsOfScopes({ replaceTags }: Pick<PlaneServices, 'replaceTags'>): ComputedType {
  const write = async (
    context: ComputedWriteContext,
    change: (current: Tags) => Tags,
    right: 'write' | 'delete' = 'write',
  ): Promise<object> => {
    const scope = scopeOf(context.id)
    const made = (current: Resource): Tags => {
      const before = tagsOf(scope, current)
      context.requirePreconditions(show(context, before))
      return change(before)
    }
    return show(context, await replaceTags(scope, { right, made }, context))
  }
  return defineComputed({
    type: 'Resources/tags',
    description: 'All tags of a subscription, a group or a resource.',
    scope: 'any',
    apiVersions: tagVersions,
    answer: Type.Object({ properties: Type.Object({ tags }) }),
    source: {
      async get(context) {
        const current = await currentTags(context)
        return current === undefined ? undefined : show(context, current)
      },
      put: {
        body,
        apply: (context, given: Static<typeof body>) =>
          write(context, () => given.properties.tags ?? {}),
        preview: async (context, given: Static<typeof body>) =>
          show(context, given.properties.tags ?? {}),
      },
      patch: {
        body: patchBody,
        async apply(context, given: Static<typeof patchBody>) {
          if ((await currentTags(context)) === undefined) return undefined
          const wanted = given.properties?.tags ?? {}
          return write(context, (current) => patched(current, wanted, given.operation))
        },
      },
      delete: { apply: (context) => write(context, () => ({}), 'delete') },
    },
  })
}

/** Undefined where there is nothing that could have tags. */
async function currentTags({ id, reader }: GetContext): Promise<Tags | undefined> {
  if (nameOf(id).toLowerCase() !== 'default') return undefined
  const scope: ResourceId = scopeOf(id)
  const found = await reader.get(scope)
  if (found === undefined) throw refuse.ResourceNotFound({ id: scope.text })
  return tagsOf(scope, found)
}

function tagsOf(scope: ResourceId, found: Resource): Tags {
  // A subscription keeps its tags in its model; rows of that type were made by its `toModel`.
  const subscription = subscriptionOf(scope)
  const isSubscription =
    subscription !== undefined && subscriptionIdOf(subscription).key === scope.key
  return isSubscription ? (found.model as Subscription).tags : (found.tags ?? {})
}

function show({ id, words }: GetContext, found: Tags): object {
  return {
    id: id.text,
    name: nameOf(id),
    type: qualify(words, 'Resources/tags'),
    properties: { tags: found },
  }
}

/** Names are told apart without their case. `Delete` takes away what has that name and that value. */
function patched(current: Tags, given: Tags, operation: 'Merge' | 'Replace' | 'Delete'): Tags {
  if (operation === 'Replace') return given
  const named = new Map(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
  const kept = Object.entries(current).filter(([name, value]) => {
    const wanted = named.get(name.toLowerCase())
    return operation === 'Merge' ? wanted === undefined : wanted !== value
  })
  return { ...Object.fromEntries(kept), ...(operation === 'Merge' ? given : {}) }
}
