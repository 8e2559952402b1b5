/**
 * Finds the key of an installation and the next key of a rotation: where the operator put them, or in the home. It
 * never prints a key.
 */

import { refuse } from '#kernel/error.ts'
import { SealingKey } from '#sealing/sealing-key.ts'
import type { Sql } from '#stores/store.ts'
import type { ServerHome } from './home.ts'
import { type KeySources, type MaybePromise, outsideKey } from './outside-key.ts'
import { hasRecord } from './record.ts'

export interface GivenKeys extends KeySources {
  readonly nextKey: KeySources
}

/** A new store gets a new key. A store that has an installation needs that installation's key. */
export async function installationKey(
  given: GivenKeys,
  home: ServerHome,
  sql: Sql,
): Promise<SealingKey> {
  const known = (await outsideKey(given)) ?? home.key()
  if (known !== undefined) return new SealingKey(known)
  if (await hasRecord(sql)) {
    throw new Error(
      `The store holds an installation, but ${home.folder} has no key of it. Copy installation.key from the first home, or set ARMATURE_KEY, ARMATURE_KEY_FILE or ARMATURE_KEY_COMMAND to give its content.`,
    )
  }
  return new SealingKey(home.createKey())
}

/** The next key of a rotation, if one is given already. */
export function nextKey(given: GivenKeys, home: ServerHome): MaybePromise<SealingKey | undefined> {
  const keyOf = (key: Uint8Array | undefined) =>
    key === undefined ? undefined : new SealingKey(key)
  const outside = outsideKey(given.nextKey, 'ARMATURE_KEY_NEXT')
  return outside instanceof Promise ? outside.then(keyOf) : keyOf(outside ?? home.nextKey())
}

/**
 * Like `nextKey`, but creates the key in the home when the current key is there too. Its refusals are for the
 * operator.
 */
export async function requireNextKey(
  given: GivenKeys,
  home: ServerHome,
  current: SealingKey,
): Promise<SealingKey> {
  const isCommand = given.nextKey.keyCommand !== undefined
  // Both at once: each may take half of the time that a request has.
  const [key, again] = await Promise.all([
    nextKey(given, home),
    isCommand ? nextKey(given, home) : undefined,
  ])
  if (key !== undefined && isCommand) {
    if (again?.id !== key.id) {
      throw refuse.KeyNotRotated({
        reason:
          'the command of ARMATURE_KEY_NEXT_COMMAND gives another key each time. It has to give one that is kept: without it nothing can be opened after a restart.',
      })
    }
  }
  if (key !== undefined && key.id !== current.id) return key
  if (key !== undefined) {
    throw refuse.KeyNotRotated({
      reason: 'the next key that is given is the one there is. Give a new one.',
    })
  }
  const { key: text, keyFile, keyCommand } = given
  if ((text ?? keyFile ?? keyCommand) === undefined) return new SealingKey(home.createNextKey())
  throw refuse.KeyNotRotated({
    reason:
      "this installation's key is given from outside: give the next one by ARMATURE_KEY_NEXT, ARMATURE_KEY_NEXT_FILE or ARMATURE_KEY_NEXT_COMMAND to every replica",
  })
}
