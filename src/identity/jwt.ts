/**
 * JSON web tokens, by `jose`: parse, verify a signature, sign with RS256. The key that was found decides the
 * algorithm, never the token. `none` and shared secrets are not supported.
 */

import type { JsonWebKey, KeyObject } from 'node:crypto'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { compactVerify } from 'jose/jws/compact/verify'
import { decodeJwt } from 'jose/jwt/decode'
import { SignJWT } from 'jose/jwt/sign'

export type SigningAlgorithm = 'RS256' | 'PS256' | 'ES256'

/** The claims and header of a token, not verified. */
export interface ParsedToken {
  readonly token: string
  readonly keyId: string | undefined
  readonly type: string | undefined
  readonly claims: Readonly<Record<string, unknown>>
}

const form = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const malformed = 'it is not a signed JSON web token'

/** Parses a token without verifying it. Returns a message when its form is wrong. */
export function parseToken(token: string): ParsedToken | string {
  if (!form.test(token)) return malformed
  const decoded = decode(token)
  if (decoded === undefined) return malformed
  const { header, claims } = decoded
  if ('crit' in header) return 'its header demands extensions that are not supported'
  if (typeof header['alg'] !== 'string') return 'its header names no algorithm'
  return {
    token,
    keyId: typeof header['kid'] === 'string' ? header['kid'] : undefined,
    type: typeof header['typ'] === 'string' ? header['typ'].toLowerCase() : undefined,
    claims,
  }
}

interface Decoded {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

function decode(token: string): Decoded | undefined {
  try {
    return { header: { ...decodeProtectedHeader(token) }, claims: decodeJwt(token) }
  } catch {
    // The library throws when the text is not a token.
    return undefined
  }
}

/** A public key together with the algorithms it may be used with. */
export interface VerificationKey {
  readonly key: KeyObject
  readonly algorithms: readonly SigningAlgorithm[]
}

/** The algorithms that a published key may be used with; none for keys that are not for signatures. */
export function algorithmsOf(jwk: JsonWebKey): readonly SigningAlgorithm[] {
  if (jwk['use'] !== undefined && jwk['use'] !== 'sig') return []
  const possible: readonly SigningAlgorithm[] =
    jwk.kty === 'RSA'
      ? ['RS256', 'PS256']
      : jwk.kty === 'EC' && jwk.crv === 'P-256'
        ? ['ES256']
        : []
  return jwk['alg'] === undefined ? possible : possible.filter((a) => a === jwk['alg'])
}

/** Whether the signature is valid, by an algorithm this key is for. */
export async function isSignedBy(
  { token }: ParsedToken,
  { key, algorithms }: VerificationKey,
): Promise<boolean> {
  try {
    await compactVerify(token, key, { algorithms: [...algorithms] })
    return true
  } catch {
    // The library throws for a wrong signature, for another algorithm, and for a key that is too weak.
    return false
  }
}

/** Signs an access token; the header is that of RFC 9068. */
export async function signToken(
  claims: Readonly<Record<string, unknown>>,
  { keyId, privateKey }: { readonly keyId: string; readonly privateKey: KeyObject },
): Promise<string> {
  return await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: keyId })
    .sign(privateKey)
}
