/** Finds the installation's key, compares it with the store's proof, and opens what is derived from it. */

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock, Ids, Log } from '#kernel/ports.ts'
import { Keyring } from '#sealing/keyring.ts'
import type { SealingKey } from '#sealing/sealing-key.ts'
import type { Store } from '#stores/store.ts'
import { adoptEarlierSeals } from '../installation/earlier-seals.ts'
import type { ServerHome } from '../installation/home.ts'
import { type GivenKeys, installationKey, nextKey } from '../installation/installation-key.ts'
import { endCommands } from '../installation/outside-key.ts'
import {
  type InstallationRecord,
  keepIndexKey,
  markNamesKeys,
  openRecord,
} from '../installation/record.ts'
import { openRotation, type Rotation } from '../installation/rotation.ts'
import type { RotationWaits } from '../installation/rotation-follower.ts'

export interface Keys extends AsyncDisposable {
  readonly keyring: Keyring
  readonly rotation: Rotation
  readonly record: InstallationRecord
  /** The key of the hashes by which rows of sign-in are found. It stays the same through rotations. */
  readonly indexKey: Uint8Array
}

export async function openKeys(options: {
  readonly config: GivenKeys
  readonly home: ServerHome
  readonly store: Store
  readonly clock: Clock
  readonly ticks: () => number
  readonly ids: Ids
  readonly recordIds: Ids
  readonly log: Log
  readonly waits?: RotationWaits
}): Promise<Keys> {
  const { config, home, store, log } = options
  const given = await installationKey(config, home, store.sql)
  const record = await openRecord(store.sql, options.recordIds, given.proof)
  const keyring = new Keyring(given)
  const rotation = openRotation({
    ...options,
    keyring,
    keys: [given],
    nextKey: () => nextKey(config, home),
    onRotated: (to) => keepRotated(home, given, to, log),
    place: `${hostname()}, process ${process.pid}, home ${home.folder}`,
  })
  await rotation.refresh()
  if (!record.namesKeys) {
    await adoptEarlierSeals(store, keyring.current)
    await markNamesKeys(store.sql)
  }
  const indexKey = await openIndexKey(store, keyring, record, given)
  return {
    keyring,
    rotation,
    record,
    indexKey,
    async [Symbol.asyncDispose]() {
      endCommands()
      await rotation[Symbol.asyncDispose]()
    },
  }
}

/** The next start must find the new key where it looks for the key. */
function keepRotated(home: ServerHome, from: SealingKey, to: SealingKey, log: Log): void {
  const next = home.nextKey()
  if (next !== undefined && to.isOf(next)) {
    home.takeNextKey(from.id)
    return
  }
  log.warn(
    { keyId: to.id },
    'the installation has a new key: set ARMATURE_KEY (or its _FILE or _COMMAND) to it and remove ARMATURE_KEY_NEXT',
  )
}

const indexContext = 'index key'

async function openIndexKey(
  store: Store,
  keyring: Keyring,
  record: InstallationRecord,
  given: SealingKey,
): Promise<Uint8Array> {
  const seal = keyring.sealOf('index')
  const sealed =
    record.sealedIndexKey ??
    (await keepIndexKey(
      store.sql,
      // Before it was stored, it was derived from the installation's key.
      seal.seal(
        Buffer.from(
          record.namesKeys ? randomBytes(32) : given.deriveEarlier('identity', 'index'),
        ).toString('base64'),
        indexContext,
      ),
    ))
  const opened = seal.open(sealed, indexContext)
  if (opened === undefined) throw new Error('the key of indexes cannot be opened')
  return Buffer.from(opened, 'base64')
}
