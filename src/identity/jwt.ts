/**
 * JSON web tokens, as little of them as is needed: parse, check a signature with a pinned algorithm, sign
 * with RS256. `none` and shared-secret algorithms do not exist here.
 */

import { constants, type JsonWebKey, type KeyObject, sign, verify } from 'node:crypto'

export type SigningAlgorithm = 'RS256' | 'PS256' | 'ES256'

export interface ParsedToken {
  readonly algorithm: string
  readonly keyId: string | undefined
  readonly type: string | undefined
  readonly claims: Readonly<Record<string, unknown>>
  /** What the signature is over, and the signature. */
  readonly signed: string
  readonly signature: Buffer
}

const part = /^[A-Za-z0-9_-]+$/

/** The token's parts, nothing verified; or what is wrong with its form. */
export function parseToken(token: string): ParsedToken | string {
  const parts = token.split('.')
  const [header, payload, signature] = parts
  if (header === undefined || payload === undefined || signature === undefined) {
    return 'it is not a signed JSON web token'
  }
  if (parts.length !== 3 || !part.test(header) || !part.test(payload) || !part.test(signature)) {
    return 'it is not a signed JSON web token'
  }
  const head = decode(header)
  const claims = decode(payload)
  if (head === undefined || claims === undefined) return 'it is not a signed JSON web token'
  if ('crit' in head) return 'its header demands extensions that are not supported'
  if (typeof head['alg'] !== 'string') return 'its header names no algorithm'
  return {
    algorithm: head['alg'],
    keyId: typeof head['kid'] === 'string' ? head['kid'] : undefined,
    type: typeof head['typ'] === 'string' ? head['typ'].toLowerCase() : undefined,
    claims,
    signed: `${header}.${payload}`,
    signature: Buffer.from(signature, 'base64url'),
  }
}

function decode(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    // An object that is not a list is a record of unknown values.
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    // JSON.parse reports by throwing that bytes of a stranger are no JSON.
    return undefined
  }
}

/** A public key together with the algorithms it may be used with: the key decides, never the token. */
export interface VerificationKey {
  readonly key: KeyObject
  readonly algorithms: readonly SigningAlgorithm[]
}

/** The algorithms a published key may serve; none for key types and uses that are not for signatures here. */
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

/** Is the signature good, by an algorithm this very key is for? */
export function isSignedBy(token: ParsedToken, { key, algorithms }: VerificationKey): boolean {
  const algorithm = algorithms.find((a) => a === token.algorithm)
  if (algorithm === undefined) return false
  const data = Buffer.from(token.signed)
  switch (algorithm) {
    case 'RS256':
      return verify('sha256', data, key, token.signature)
    case 'PS256':
      return verify(
        'sha256',
        data,
        { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
        token.signature,
      )
    case 'ES256':
      return verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, token.signature)
    default:
      return algorithm satisfies never
  }
}

/** A signed access token; the header is that of RFC 9068. */
export function signToken(
  claims: Readonly<Record<string, unknown>>,
  { keyId, privateKey }: { readonly keyId: string; readonly privateKey: KeyObject },
): string {
  const header = { alg: 'RS256', typ: 'at+jwt', kid: keyId }
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
