/** The right that a caller needs on what the body of a container group refers to. */

import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { actionOf, type DataUse } from '#plane/access.ts'
import type { Context } from '#plane/declare/resource.ts'
import { refuseContainer } from '../errors.ts'

/** Requires that the caller may do this to what the body refers to. `shown`: as the caller wrote it. */
export async function requireAccess(
  context: Pick<Context, 'may' | 'principal' | 'words'> & { readonly id: ResourceId },
  action: string | DataUse,
  on: ResourceId,
  shown: string,
): Promise<void> {
  if (await context.may(action, on)) return
  throw refuseContainer.LinkedAuthorizationFailed({
    client: context.principal.displayName,
    principalId: context.principal.id,
    scope: context.id.text,
    linkedAction: qualify(context.words, actionOf(action)),
    linkedScope: shown,
  })
}
