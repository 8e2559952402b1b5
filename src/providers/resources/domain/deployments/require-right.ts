/** Requires a right on what a request refers to, before anything reveals whether it exists. */

import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { actionOf, type DataUse } from '#plane/access.ts'
import type { Context } from '#plane/declare/resource.ts'
import { refuseDeployment } from '../../errors.ts'

const shownMax = 500

export async function requireRight(
  { may, principal, words }: Pick<Context, 'may' | 'principal' | 'words'>,
  right: string | DataUse,
  id: ResourceId,
): Promise<void> {
  if (await may(right, id)) return
  throw refuseDeployment.LinkedAuthorizationFailed({
    principalId: principal.id,
    action: qualify(words, actionOf(right)),
    scope: id.text.slice(0, shownMax),
  })
}
