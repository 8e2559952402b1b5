/** The secrets that a container group refers to, also through a profile. */

import { parseResourceId, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import type { SecretStore } from '../dependencies.ts'
import type { ContainerGroup } from '../resources/container-groups/model.ts'
import type { GivenBody, GroupContext } from './group-body.ts'
import { requireAccess } from './require-access.ts'

interface GrantedSecrets {
  /** By URI, in lower case. */
  readonly ids: Readonly<Record<string, string>> | undefined
  /** What the caller may use as it is now. A reference that keeps what it had says nothing of a vault that came later. */
  readonly readable: ReadonlySet<string>
}

/**
 * Undefined where references are not looked up. The caller must be allowed to use each: the group runs with their values, and a reader of its logs
 * may see them.
 */
export async function grantedSecrets(
  context: GroupContext,
  { secretReferences = [] }: GivenBody['properties'],
  secrets: SecretStore | undefined,
): Promise<GrantedSecrets | undefined> {
  if (secrets?.locate === undefined || secrets.use === undefined) return undefined
  const granted = new Map<string, string>()
  const readable = new Set<string>()
  for (const { secretReferenceUri } of secretReferences) {
    const id = await secrets.locate(secretReferenceUri)
    if (id === undefined) continue
    const before = secretNow(context.known, secretReferenceUri)
    if (before !== undefined && isTakenOver(context.id, before.id, id)) {
      if (before.id !== undefined) granted.set(secretReferenceUri, before.id)
      continue
    }
    // As the caller wrote it: only those who may see the vault learn where it is.
    await requireAccess(context, secrets.use, id, secretReferenceUri)
    granted.set(secretReferenceUri, id.key)
    readable.add(secretReferenceUri)
  }
  // Sorted, so that the same references in another order give the same group.
  const ids = granted.size === 0 ? undefined : Object.fromEntries([...granted].sort())
  return { ids, readable }
}

/** Which secret the group has by this reference; undefined without such a reference. */
function secretNow(
  known: ContainerGroup | undefined,
  uri: string,
): { readonly id: string | undefined } | undefined {
  const { secretReferences = [] } = known?.properties ?? {}
  if (!secretReferences.some((one) => one.secretReferenceUri === uri)) return undefined
  const { secretIds = {} } = known ?? {}
  return { id: Object.hasOwn(secretIds, uri) ? secretIds[uri] : undefined }
}

/** Names of vaults are given to whoever comes first: one of another resource group that came later is not what was meant. */
function isTakenOver(group: ResourceId, before: string | undefined, now: ResourceId): boolean {
  const owner = scopeOf(now).key
  if (owner === scopeOf(group).key) return false
  const id = before === undefined ? undefined : parseResourceId(before)
  return id === undefined || scopeOf(id).key !== owner
}
