/**
 * What a DELETE takes along where its query says so: revisions with an API, subscriptions with a product or a user. It takes the
 * right to delete such resources of the whole service.
 */

import { type ApiError, refuse } from '#kernel/error.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import type { DeletedAlong, DeletionContext, StoredMembers } from '#plane/declare/stored.ts'
import { nextTurn } from '#plane/next-turn.ts'
import { refuseFields } from '../errors.ts'
import type { Subscription } from '../resources/subscriptions/model.ts'

interface Along extends Pick<DeletedAlong<unknown>, 'find' | 'isOne' | 'isAnyLeft'> {
  /** The type of what goes along. */
  readonly type: string
  /** The query parameter: `true` or nothing. */
  readonly parameter: string
}

interface AlongOrNone extends Along {
  isAnyLeft(context: DeletionContext): Promise<boolean>
  /** The refusal where some are there and shall not go. */
  whyNot(id: ResourceId): string | undefined
}

type Hooks<M> = Pick<StoredMembers<M>, 'rightsToDelete' | 'deleteRules' | 'deletedAlong'>

/** Without the parameter, they stay. */
export function deletesAlong<M>({ type, parameter, ...along }: Along): Hooks<M> {
  const action = `${type}/delete`
  const { isAnyLeft } = along
  return {
    rightsToDelete: (id) => [{ action, scope: parentOf(id) }],
    deletedAlong: {
      async *find(context) {
        if (isWanted(context, parameter)) yield* along.find(context)
      },
      isOne: along.isOne,
      rules(context) {
        const scope = parentOf(context.id)
        if (!context.may(action, scope)) throw forbidden(context, action, scope)
      },
      ...(isAnyLeft === undefined
        ? {}
        : {
            isAnyLeft: async (context: DeletionContext) =>
              isWanted(context, parameter) && (await isAnyLeft(context)),
          }),
    },
  }
}

/** Without the parameter, it stays as long as they do. */
export function deletesAlongOrNone<M>(along: AlongOrNone): Hooks<M> {
  const { parameter, isAnyLeft, whyNot } = along
  return {
    ...deletesAlong<M>(along),
    async deleteRules(context) {
      const message = isWanted(context, parameter) ? undefined : whyNot(context.id)
      if (context.resource === undefined || message === undefined) return
      if (await isAnyLeft(context)) throw refuseFields([{ path: parameter, message }])
    },
  }
}

function isWanted({ query }: DeletionContext, parameter: string): boolean {
  return query.get(parameter)?.toLowerCase() === 'true'
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

/** Of one page of an index. */
const foundAtOnce = 100

/**
 * The unique key of a subscription to a product of its service: by it those of a product are found without the others.
 * No id holds the sign between its two halves.
 */
export function keyOfSubscription(id: ResourceId, scope: string): string | undefined {
  const product = scope.toLowerCase()
  const products = `${parentOf(id).key}/products/`
  const isProduct = product.startsWith(products) && !/[/#]/.test(product.slice(products.length))
  return isProduct ? `${product}#${nameOf(id).toLowerCase()}` : undefined
}

export async function* subscriptionsTo(
  reader: Reader,
  product: ResourceId,
): AsyncGenerator<ResourceId> {
  const query = { prefix: `${product.key}#`, limit: foundAtOnce }
  let found = await reader.byUniqueKey(query)
  for (;;) {
    yield* found.map(({ id }) => id)
    const after = found.at(-1)?.uniqueKey
    if (after === undefined || found.length < foundAtOnce) return
    await nextTurn()
    found = await reader.byUniqueKey({ ...query, after })
  }
}

export async function isSubscribedTo(reader: Reader, product: ResourceId): Promise<boolean> {
  return (await reader.byUniqueKey({ prefix: `${product.key}#`, limit: 1 })).length > 0
}

/** Subscriptions of a user are known by what they say alone, so all of the service are looked through. */
export async function* subscriptionsOf(
  reader: Reader,
  user: ResourceId,
): AsyncGenerator<ResourceId> {
  const query = { type: subscriptionType, under: parentOf(user) }
  for await (const found of reader.each(query)) if (isOwnedBy(user, found)) yield found.id
}

export function isOwnedBy(user: ResourceId, { model }: Resource): boolean {
  // A row of subscriptions, made by its `toModel`.
  const { ownerId } = model as Subscription
  return ownerId?.toLowerCase().endsWith(`/users/${nameOf(user).toLowerCase()}`) === true
}
