/**
 * Opens the saved states of an installation: where they are stored, what they must have in common with it, and
 * which caches are emptied.
 */

import { join } from 'node:path'
import { refuse } from '#kernel/error.ts'
import { checkRow } from '#plane/check-row.ts'
import type { RunningPlane } from '#plane/create-plane.ts'
import type { Sql } from '#stores/store.ts'
import { snapshotsInFolder, snapshotsInMemory } from '../control/snapshots.ts'
import type { StateOwner } from '../control/state.ts'
import { openStates, type States } from '../control/states.ts'
import type { InstallationRecord } from '../installation/record.ts'
import { readKeyState } from '../installation/rotation-record.ts'
import { type Foundation, inMemory } from './foundation.ts'

export function openInstallationStates(base: Foundation, plane: RunningPlane): States {
  const { config, home, record, machineClock, movedClock } = base
  const now = () => machineClock.now()
  return openStates({
    store: base.store,
    snapshots:
      config.store === inMemory
        ? snapshotsInMemory(now)
        : snapshotsInFolder(join(home.folder, 'snapshots')),
    owner: (reads) => ownerIn(reads, record),
    reconciledTypes: () =>
      plane.registry.types.filter(({ reconcile }) => reconcile !== undefined).map(({ key }) => key),
    checkRow: (row) => checkRow(plane.registry, row),
    // A signing key that was made after the state was saved has no feed entry in it.
    follows: [['directory', 'signing-keys']],
    now,
    clock: movedClock,
    forget: () => plane.forget(),
  })
}

/**
 * What a state must have in common with the installation. During a rotation the store holds texts sealed with two
 * keys.
 */
export async function ownerIn(
  reads: Pick<Sql, 'all'>,
  { tenantId, subscriptionId }: Pick<InstallationRecord, 'tenantId' | 'subscriptionId'>,
): Promise<StateOwner> {
  const { proof, rotation } = await readKeyState(reads)
  if (proof === undefined || rotation !== undefined) {
    throw refuse.ControlNotPossible({
      reason:
        'the installation’s key is being rotated; states are kept and brought back when that has ended (`armature key status`)',
    })
  }
  return { tenantId, subscriptionId, keyProof: proof }
}
