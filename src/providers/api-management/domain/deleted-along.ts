/**
 * What a DELETE takes along where its query says so: revisions with an API, subscriptions with a product or a user. It takes the
 * right to delete such resources of the whole service.
 */

import { type ApiError, refuse } from '#kernel/error.ts'
import { parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { DeletionContext, StoredMembers } from '#plane/declare/stored.ts'
import { refuseFields } from '../errors.ts'
import type { Subscription } from '../resources/subscriptions/model.ts'

interface Along {
  /** The type of what goes along. */
  readonly type: string
  /** The query parameter: `true` or nothing. */
  readonly parameter: string
  find(deletion: DeletionContext): AsyncIterable<ResourceId>
  /** The refusal where some are there and shall not go. Without it, they stay. */
  whyNot?(id: ResourceId): string | undefined
}

type Hooks<M> = Pick<StoredMembers<M>, 'rightsToDelete' | 'deleteRules' | 'deletedAlong'>

export function deletesAlong<M>({ type, parameter, find, whyNot }: Along): Hooks<M> {
  const action = `${type}/delete`
  const isWanted = (query: URLSearchParams): boolean =>
    query.get(parameter)?.toLowerCase() === 'true'
  return {
    rightsToDelete: (id) => [{ action, scope: parentOf(id) }],
    async deleteRules(context) {
      const { id, query, resource, may } = context
      const all = isWanted(query)
      const message = all ? undefined : whyNot?.(id)
      if (resource === undefined || (!all && message === undefined)) return
      if (!(await holdsAny(find(context)))) return
      if (message !== undefined) throw refuseFields([{ path: parameter, message }])
      const scope = parentOf(id)
      if (!may(action, scope)) throw forbidden(context, action, scope)
    },
    async *deletedAlong(context) {
      if (isWanted(context.query)) yield* find(context)
    },
  }
}

async function holdsAny(all: AsyncIterable<ResourceId>): Promise<boolean> {
  for await (const _one of all) return true
  return false
}

function forbidden(
  { principal, words }: DeletionContext,
  name: string,
  { text }: ResourceId,
): ApiError {
  const action = qualify(words, name)
  const client = principal.displayName
  return refuse.AuthorizationFailed({ client, principalId: principal.id, action, scope: text })
}

export const subscriptionType = 'ApiManagement/service/subscriptions'

/** Subscriptions of a service. They are known by what they say alone, so all of them are looked through. */
export async function* subscriptionsWhere(
  reader: Reader,
  service: ResourceId,
  isOne: (subscription: Subscription) => boolean,
): AsyncGenerator<ResourceId> {
  for await (const { id, model } of reader.each({ type: subscriptionType, under: service })) {
    // A row of that type, made by its `toModel`.
    if (isOne(model as Subscription)) yield id
  }
}
