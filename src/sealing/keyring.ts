/**
 * The keys of an installation that a process holds: one seals, another still opens while a rotation is under way. What a
 * replaced key sealed is sealed anew where this process writes it. Never logs.
 */

import { createHmac } from 'node:crypto'
import type { Seal } from '#kernel/ports.ts'
import { type SealPurpose, type SigningPurpose, sealPurposes } from '#kernel/seal-purposes.ts'
import { openText, parseSealed, replaceSealed, resealText, sealText } from './sealed-text.ts'
import type { SealingKey } from './sealing-key.ts'

/** A seal, and what sign-in needs besides. */
export interface IdentitySeal extends Seal {
  /** A keyed hash, base64url: finds a row by a secret without keeping the secret. The same after a rotation. */
  index(secret: string): string
  /** The first signs, all are taken. */
  cookieKeys(): string[]
}

export class Keyring {
  #current: SealingKey
  #opening: readonly SealingKey[] = []
  #replaced: readonly SealingKey[] = []

  constructor(current: SealingKey) {
    this.#current = current
  }

  get current(): SealingKey {
    return this.#current
  }

  /** From now on `current` seals, and `opens` open besides. What `replaces` sealed is sealed anew where it is written. */
  hold(
    current: SealingKey,
    others: {
      readonly opens?: readonly SealingKey[]
      readonly replaces?: readonly SealingKey[]
    } = {},
  ): void {
    this.#current = current
    this.#opening = others.opens ?? []
    this.#replaced = others.replaces ?? []
  }

  sealOf(purpose: SealPurpose): Seal {
    return {
      seal: (text, context) => sealText(this.#current, purpose, context, text),
      open: (text, context) => this.#open(purpose, text, context),
    }
  }

  identitySeal(indexKey: Uint8Array): IdentitySeal {
    return {
      ...this.sealOf('identity'),
      index: (secret) => createHmac('sha256', indexKey).update(secret).digest('base64url'),
      cookieKeys: () =>
        this.signingKeys('cookies').map((key) => Buffer.from(key).toString('base64url')),
    }
  }

  /** The first signs, all are taken. */
  signingKeys(purpose: SigningPurpose): readonly Uint8Array[] {
    return [this.#current, ...this.#opening].map((key) => key.derive(purpose))
  }

  /** Must what this process writes be looked through? */
  get reseals(): boolean {
    return this.#replaced.length > 0
  }

  /** The text with everything in it that a replaced key sealed, sealed with the current one. Yields where it may pause. */
  *resealing(text: string): Generator<void, string> {
    if (!this.#replaced.some(({ id }) => text.includes(`~${id}.`))) return text
    return yield* replaceSealed(text, (sealed) => {
      // What only clients hold ends with its key, also where somebody has it stored.
      if (sealPurposes[sealed.purpose] === 'given-out') return undefined
      const from = this.#replaced.find(({ id }) => id === sealed.keyId)
      return from === undefined ? undefined : resealText(from, this.#current, sealed)
    })
  }

  #open(purpose: SealPurpose, text: string, context: string): string | undefined {
    const sealed = parseSealed(text)
    if (sealed === undefined || sealed.purpose !== purpose) return undefined
    const key = [this.#current, ...this.#opening].find(({ id }) => id === sealed.keyId)
    return key === undefined ? undefined : openText(key, sealed, context)
  }
}
