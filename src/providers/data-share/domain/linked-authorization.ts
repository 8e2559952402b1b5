/** Checks rights on what a body refers to: nobody shares, or writes to, what they may not use themselves. */

import { refuseProblems } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { Places } from '../dependencies.ts'
import { refuseShare } from '../errors.ts'
import { type Kind, type KindProperties, type Resolved, resolveKind } from './kinds.ts'

type Asked = Context & { readonly id: ResourceId }

/**
 * The resource that the kind names, which must exist and which the caller must be allowed to use. Throws the
 * refusals.
 */
export async function requireLinkedAuthorization(
  context: Asked,
  places: Places,
  kind: Kind,
  properties: KindProperties,
): Promise<Resolved> {
  const resolved = resolveKind(kind, properties, context.words)
  const path = 'properties'
  if (resolved === undefined) {
    throw refuseProblems([{ path, message: `no id of what the kind ${kind} names` }])
  }
  const { id: on } = usedBy(places, resolved)
  // Checked before its existence, so that nobody learns of what they may not see.
  await requireUse(context, places, resolved)
  const found = await (resolved.kind === 'objects' ? places.storage(on) : places.sql(on))
  if (found === undefined) {
    throw refuseProblems([{ path, message: `'${on.text}' is not registered` }])
  }
  return resolved
}

/** The resource that a kind names, and the action for using it. */
export function usedBy(
  places: Pick<Places, 'storageAction' | 'sqlAction'>,
  resolved: Resolved,
): { readonly id: ResourceId; readonly action: string } {
  return resolved.kind === 'objects'
    ? { id: resolved.account, action: places.storageAction }
    : { id: resolved.server, action: places.sqlAction }
}

/** Requires that the caller may use what a kind names. */
export async function requireUse(
  context: Asked,
  places: Places,
  resolved: Resolved,
): Promise<void> {
  const { id, action } = usedBy(places, resolved)
  if (await context.may(action, id)) return
  throw refuseShare.LinkedAuthorizationFailed({
    client: context.principal.displayName,
    scope: context.id.text,
    linkedAction: qualify(context.words, action),
    linkedScope: id.text,
  })
}
