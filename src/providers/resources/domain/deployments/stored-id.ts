/** The paths of a deployment: with `providers`, as it is stored, and without, as its operations are read. */

import {
  extensionOf,
  nameOf,
  type ResourceId,
  resourceGroupIdOf,
  resourceGroupOf,
  subscriptionIdOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'

/** `…/deployments/{name}` with or without `providers`, in the stored form. */
export function storedIdOf(plain: ResourceId, words: VendorWords): ResourceId {
  if (plain.segments.at(-1)?.namespace !== undefined) return plain
  const subscription = subscriptionOf(plain) ?? ''
  const group = resourceGroupOf(plain)
  const scope =
    group === undefined ? subscriptionIdOf(subscription) : resourceGroupIdOf(subscription, group)
  return extensionOf(scope, `${words.namespace}.Resources`, ['deployments'], [nameOf(plain)])
}
