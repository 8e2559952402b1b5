/** The seal of one key, as the installation gives it. */

import { type IdentitySeal, Keyring } from '#sealing/keyring.ts'
import { SealingKey } from '#sealing/sealing-key.ts'

export function createSeal(installationKey: Uint8Array): IdentitySeal {
  const key = new SealingKey(installationKey)
  return new Keyring(key).identitySeal(key.derive('index of tests'))
}
