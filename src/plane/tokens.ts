/**
 * Continuation tokens: opaque to the client, signed with the installation's key, and bound to the collection
 * and query they came from, so that a token can be neither made up nor carried elsewhere.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'

const tokenLengthMax = 8192

function mac(key: Uint8Array, purpose: string, body: string): Buffer {
  return createHmac('sha256', key).update(`${purpose}\n${body}`).digest().subarray(0, 16)
}

/** Packs a cursor for one purpose (the path and query a list is asked with), signed with the first key. */
export function packToken([key]: readonly Uint8Array[], purpose: string, cursor: string): string {
  if (key === undefined) throw new Error('no key signs continuation tokens')
  const body = Buffer.from(cursor, 'utf8').toString('base64url')
  return `${body}.${mac(key, purpose, body).toString('base64url')}`
}

/** The cursor of a token, or `undefined` when none of the keys signed it for this purpose. */
export function unpackToken(
  keys: readonly Uint8Array[],
  purpose: string,
  token: string,
): string | undefined {
  const at = token.lastIndexOf('.')
  if (at <= 0 || token.length > tokenLengthMax) return undefined
  const body = token.slice(0, at)
  const given = Buffer.from(token.slice(at + 1), 'base64url')
  const isSignedBy = (key: Uint8Array): boolean => {
    const expected = mac(key, purpose, body)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
  if (!keys.some(isSignedBy)) return undefined
  return Buffer.from(body, 'base64url').toString('utf8')
}
