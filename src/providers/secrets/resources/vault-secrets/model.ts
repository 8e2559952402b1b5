/** The stored form of a secret: its values, newest first, each sealed for the secret and its version. */

import type { Seal } from '#kernel/ports.ts'

export interface SecretVersion {
  /** 32 hexadecimal digits, never reused. */
  readonly version: string
  readonly createdAt: string
  readonly sealed: string
}

export interface VaultSecret {
  /** The resource id in lower case: the context of its sealed values. */
  readonly place: string
  readonly enabled: boolean
  readonly contentType?: string
  /** Newest first. Empty only until the rules refuse it. */
  readonly versions: readonly SecretVersion[]
}

export function sealValue(seal: Seal, place: string, version: string, value: string): string {
  return seal.seal(value, `${place}|${version}`)
}

/** Undefined when this installation's key does not open it. */
export function openValue(
  seal: Seal,
  place: string,
  { version, sealed }: SecretVersion,
): string | undefined {
  return seal.open(sealed, `${place}|${version}`)
}
