/**
 * What a DELETE takes along where its query says so: revisions with an API, subscriptions with a product or a user. It takes the
 * right to delete such resources of the whole service.
 */

import { type ApiError, refuse } from '#kernel/error.ts'
import { parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { InsideContext, Reader } from '#plane/declare/resource.ts'
import type { StoredMembers } from '#plane/declare/stored.ts'
import { refuseFields } from '../errors.ts'
import type { Subscription } from '../resources/subscriptions/model.ts'

/** As many as one transaction removes. */
export const alongMax = 100

interface Deletion extends InsideContext {
  readonly id: ResourceId
  readonly query: URLSearchParams
}

interface Along {
  /** The type of what goes along. */
  readonly type: string
  /** The query parameter: `true` or nothing. */
  readonly parameter: string
  /** Up to `alongMax` of them. */
  find(deletion: Deletion): Promise<readonly ResourceId[]>
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
      if ((await find(context)).length === 0) return
      if (message !== undefined) throw refuseFields([{ path: parameter, message }])
      const scope = parentOf(id)
      if (!may(action, scope)) throw forbidden(context, action, scope)
    },
    deletedAlong: async (context) => (isWanted(context.query) ? find(context) : []),
  }
}

function forbidden({ principal, words }: Deletion, name: string, { text }: ResourceId): ApiError {
  const action = qualify(words, name)
  const client = principal.displayName
  return refuse.AuthorizationFailed({ client, principalId: principal.id, action, scope: text })
}

export const subscriptionType = 'ApiManagement/service/subscriptions'

/** Subscriptions of a service. They are known by what they say alone, so all of them are looked through. */
export async function subscriptionsWhere(
  reader: Reader,
  service: ResourceId,
  isOne: (subscription: Subscription) => boolean,
): Promise<readonly ResourceId[]> {
  const found: ResourceId[] = []
  for await (const { id, model } of reader.each({ type: subscriptionType, under: service })) {
    // A row of that type, made by its `toModel`.
    if (isOne(model as Subscription)) found.push(id)
    if (found.length === alongMax) break
  }
  return found
}
