/** The saved states of an installation: where they are, what they must have in common with it, and who is told. */

import { join } from 'node:path'
import type { RunningPlane } from '#plane/create-plane.ts'
import { snapshotsInFolder, snapshotsInMemory } from '../control/snapshots.ts'
import { openStates, type States } from '../control/states.ts'
import { type Foundation, inMemory } from './foundation.ts'

export function openInstallationStates(base: Foundation, plane: RunningPlane): States {
  const { config, home, record, keyring, machineClock, movedClock } = base
  const { tenantId, subscriptionId } = record
  const now = () => machineClock.now()
  return openStates({
    store: base.store,
    snapshots:
      config.store === inMemory
        ? snapshotsInMemory(now)
        : snapshotsInFolder(join(home.folder, 'snapshots')),
    owner: () => ({ tenantId, subscriptionId, keyProof: keyring.current.proof }),
    reconciledTypes: () =>
      plane.registry.types.filter(({ reconcile }) => reconcile !== undefined).map(({ key }) => key),
    // A key that was made after the state was saved is in no entry of it.
    follows: [['directory', 'signing-keys']],
    now,
    clock: movedClock,
    forget: () => plane.forget(),
  })
}
