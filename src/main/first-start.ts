/** What the first start of an installation creates: its owner, the owner's role assignment, a subscription. */

import type { Identity } from '#identity/identity.ts'
import type { Ids } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { qualify } from '#kernel/vendor.ts'
import type { RunningPlane } from '#plane/create-plane.ts'
import type { Store } from '#stores/store.ts'
import { type InstallationRecord, isSeeded, markSeeded } from '../installation/record.ts'
import type { Foundation } from './foundation.ts'

const ownerRole = '8e3af657-a8ff-443c-a75c-2fe8c4bcb635'

const firstStartSeconds = 10

export async function findOwner(
  base: Foundation,
  identity: Identity,
): Promise<{ readonly ownerId: string; readonly firstStart: boolean }> {
  const firstStart = !(await isSeeded(base.store.sql))
  if (firstStart) return { ownerId: await makeOwner(base, identity), firstStart }
  const { principalId } = await identity.ensureOwner({ displayName: 'Owner' })
  return { ownerId: principalId, firstStart }
}

/**
 * Creates the owner at the first start. Of several replicas that start at once, one creates it. If that start was
 * cut off, the next one completes it, with new credentials when the first were lost.
 */
async function makeOwner({ home, store, timers }: Foundation, identity: Identity): Promise<string> {
  const owner = await identity.ensureOwner({ displayName: 'Owner' })
  if (owner.created) {
    const { created: _, ...credentials } = owner
    home.writeOwner(credentials)
    return owner.principalId
  }
  if (home.hasOwner()) return owner.principalId
  for (let seconds = 0; seconds < firstStartSeconds; seconds++) {
    await new Promise<void>((resolve) => timers.after(1000, resolve))
    if (await isSeeded(store.sql)) return owner.principalId
  }
  home.writeOwner(await identity.resetOwner())
  return owner.principalId
}

/** Writes the first subscription and the owner's role assignment like any client's write. */
export async function seedInstallation(deps: {
  readonly plane: RunningPlane
  readonly record: InstallationRecord
  readonly ownerId: string
  readonly ids: Ids
  readonly store: Store
}): Promise<void> {
  const { plane, record, ownerId, ids, store } = deps
  const principal: Principal = {
    id: ownerId,
    type: 'User',
    tenantId: record.tenantId,
    displayName: 'owner',
    clientId: ownerId,
    groups: [],
  }
  const put = async (path: string, version: string, body: object): Promise<void> => {
    const query = new URLSearchParams({ 'api-version': version })
    await plane.run(plane.locate('PUT', path, query), {
      principal,
      query,
      body,
      isOwnBody: true,
      preconditions: {},
      correlationId: ids.uuid(),
      // The installation itself writes; there is no caller whose rights could be checked.
      pending: undefined,
    })
  }
  const { words } = plane.registry
  const authorization = qualify(words, 'Authorization')
  await put(
    `/providers/${authorization}/roleAssignments/${record.ownerAssignmentId}`,
    '2022-04-01',
    {
      properties: {
        principalId: ownerId,
        principalType: 'User',
        roleDefinitionId: `/providers/${authorization}/roleDefinitions/${ownerRole}`,
        description: 'The installation’s first owner.',
      },
    },
  )
  await put(`/subscriptions/${record.subscriptionId}`, '2020-01-01', {
    displayName: 'First subscription',
  })
  await markSeeded(store.sql)
}
