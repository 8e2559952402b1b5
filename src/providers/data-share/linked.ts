/** Rights on what a body refers to: nobody shares, or writes to, what he may not use himself. */

import { refuseProblems } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Context } from '#plane/define.ts'
import { refuseShare } from './errors.ts'
import { type Kind, type KindProperties, type Resolved, resolveKind } from './kinds.ts'
import type { Places } from './share-parts.ts'

type Asked = Context & { readonly id: ResourceId }

/** What the kind names, which exists and which the caller may use. Throws the refusals. */
export async function requireLinked(
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
  const isObjects = resolved.kind === 'objects'
  const on = isObjects ? resolved.account : resolved.server
  const action = isObjects ? places.storageAction : places.sqlAction
  // Ahead of whether it exists, so that nobody learns of what he may not see.
  if (!(await context.may(action, on))) {
    throw refuseShare.LinkedAuthorizationFailed({
      client: context.principal.displayName,
      scope: context.id.text,
      linkedAction: qualify(context.words, action),
      linkedScope: on.text,
    })
  }
  const found = await (isObjects ? places.storage(on) : places.sql(on))
  if (found === undefined) {
    throw refuseProblems([{ path, message: `'${on.text}' is not registered` }])
  }
  return resolved
}
