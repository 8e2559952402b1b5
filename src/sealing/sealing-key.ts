/** One key of an installation: its bytes stay in here, its id may be told to anybody. */

import { createHmac, hkdfSync } from 'node:crypto'

export const keyBytes = 32

export class SealingKey {
  readonly #bytes: Uint8Array
  readonly #derived = new Map<string, Uint8Array>()
  /** What the store keeps to know the key again. Tells nothing of it. */
  readonly proof: string
  /** The beginning of the proof: what sealed texts and operators name the key by. */
  readonly id: string

  constructor(bytes: Uint8Array) {
    if (bytes.byteLength !== keyBytes) {
      throw new Error(`the installation key must have ${keyBytes} bytes`)
    }
    this.#bytes = bytes
    this.proof = createHmac('sha256', bytes).update('armature installation').digest('hex')
    this.id = this.proof.slice(0, 12)
  }

  isOf(bytes: Uint8Array): boolean {
    return new SealingKey(bytes).proof === this.proof
  }

  /** How keys were derived before sealed texts named theirs: by the purpose, and then by a label. */
  deriveEarlier(purpose: string, label: string): Uint8Array {
    const first = this.derive(purpose)
    return new Uint8Array(hkdfSync('sha256', first, '', `armature/identity/${label}`, keyBytes))
  }

  /** 32 bytes for one purpose, always the same for the same one. Purposes are few. */
  derive(purpose: string): Uint8Array {
    let derived = this.#derived.get(purpose)
    if (derived === undefined) {
      const salt = new Uint8Array(0)
      derived = new Uint8Array(
        hkdfSync('sha256', this.#bytes, salt, `armature/${purpose}`, keyBytes),
      )
      this.#derived.set(purpose, derived)
    }
    return derived
  }
}
