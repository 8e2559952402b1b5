/** Requires a right on what a request refers to, before anything reveals whether it exists. */

import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Context } from '#plane/declare/resource.ts'
import { refuseDeployment } from '../../errors.ts'

const shownMax = 500

/** `action` is without the vendor word. */
export async function requireRight(
  { may, principal, words }: Pick<Context, 'may' | 'principal' | 'words'>,
  action: string,
  id: ResourceId,
): Promise<void> {
  if (await may(action, id)) return
  throw refuseDeployment.LinkedAuthorizationFailed({
    principalId: principal.id,
    action: qualify(words, action),
    scope: id.text.slice(0, shownMax),
  })
}
