/**
 * Finds user-assigned identities for the namespaces whose resources run with them. It asks nobody for
 * permission: whoever lends an identity asks for `useAction` on it first.
 */

import { parseResourceId } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Reader } from '#plane/declare/resource.ts'
import {
  assignAction,
  type UserAssignedIdentity,
  userAssignedType,
} from '../resources/user-assigned-identities/model.ts'

interface OpenedIdentities {
  /** Without the vendor word. */
  readonly useAction: string
  /** The ids of the identity with that resource id; undefined when there is none. */
  find(resourceId: string): Promise<UserAssignedIdentity | undefined>
}

export function openManagedIdentities(parts: {
  readonly reader: Reader
  readonly words: VendorWords
}): OpenedIdentities {
  const wanted = qualify(parts.words, userAssignedType).toLowerCase()
  return {
    useAction: assignAction,
    async find(resourceId) {
      const id = parseResourceId(resourceId)
      const last = id?.segments.at(-1)
      if (id === undefined || last === undefined) return undefined
      if (`${last.namespace ?? ''}/${last.types.join('/')}`.toLowerCase() !== wanted)
        return undefined
      // The id is of that type, so is its model.
      return (await parts.reader.get(id))?.model as UserAssignedIdentity | undefined
    },
  }
}
