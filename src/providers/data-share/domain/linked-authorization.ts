/** Checks rights on what a body refers to: nobody shares, or writes to, what they may not use themselves. */

import { refuseProblems } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { actionOf, type DataUse } from '#plane/access.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { CopySide, RegisteredLocations } from '../dependencies.ts'
import { refuseShare } from '../errors.ts'
import { type Kind, type KindProperties, type Resolved, resolveKind } from './kinds.ts'

type RequestContext = Context & { readonly id: ResourceId }

/**
 * The resource that the kind names, which must exist and which the caller must be allowed to use. Throws the
 * refusals.
 */
export async function requireLinkedAuthorization(
  context: RequestContext,
  places: RegisteredLocations,
  side: CopySide,
  { kind, properties }: { readonly kind: Kind; readonly properties: KindProperties },
): Promise<Resolved> {
  const resolved = resolveKind(kind, properties, context.words)
  const path = 'properties'
  if (resolved === undefined) {
    throw refuseProblems([{ path, message: `no id of what the kind ${kind} names` }])
  }
  const { id: on } = usedBy(places, side, resolved)
  // Checked before its existence, so that nobody learns of what they may not see.
  await requireUse(context, places, side, resolved)
  const found = await (resolved.kind === 'objects' ? places.storage(on) : places.sql(on))
  if (found === undefined) {
    throw refuseProblems([{ path, message: `'${on.text}' is not registered` }])
  }
  return resolved
}

/** The resource that a kind names, and what using it takes. */
export function usedBy(
  places: Pick<RegisteredLocations, 'storageUses' | 'sqlAction'>,
  side: CopySide,
  resolved: Resolved,
): { readonly id: ResourceId; readonly use: string | DataUse } {
  return resolved.kind === 'objects'
    ? { id: resolved.account, use: places.storageUses[side] }
    : { id: resolved.server, use: places.sqlAction }
}

/** Requires that the caller may use what a kind names. */
export async function requireUse(
  context: RequestContext,
  places: RegisteredLocations,
  side: CopySide,
  resolved: Resolved,
): Promise<void> {
  const { id, use } = usedBy(places, side, resolved)
  if (await context.may(use, id)) return
  throw refuseShare.LinkedAuthorizationFailed({
    client: context.principal.displayName,
    scope: context.id.text,
    linkedAction: qualify(context.words, actionOf(use)),
    linkedScope: id.text,
  })
}
