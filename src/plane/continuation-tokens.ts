/**
 * Continuation tokens: sealed with a key of the installation, since a cursor may name what the caller must not learn of, and
 * bound to the collection and query they came from, so that a token can be neither made up, read nor carried elsewhere. The
 * same cursor gives the same token.
 */

import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'

const tokenLengthMax = 8192
const nonceBytes = 12
const tagBytes = 16
const cipherName = 'aes-256-gcm'

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

const sealingKey = (key: Uint8Array): Buffer => hmac(key, 'seal')

/** Packs a cursor for one purpose (the path and query a list is asked with), sealed with the first key. */
export function packContinuationToken(
  [key]: readonly Uint8Array[],
  purpose: string,
  cursor: string,
): string {
  if (key === undefined) throw new Error('no key seals continuation tokens')
  // A nonce is used for one text alone: it is a keyed hash of that text.
  const nonce = hmac(key, `nonce\n${purpose}\n${cursor}`).subarray(0, nonceBytes)
  const cipher = createCipheriv(cipherName, sealingKey(key), nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(purpose))
  const body = Buffer.concat([cipher.update(cursor, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
}

/** The cursor of a token, or `undefined` when none of the keys sealed it for this purpose. */
export function unpackContinuationToken(
  keys: readonly Uint8Array[],
  purpose: string,
  token: string,
): string | undefined {
  if (token.length > tokenLengthMax || !/^[\w-]+$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length < nonceBytes + tagBytes) return undefined
  for (const key of keys) {
    const cursor = opened(key, purpose, bytes)
    if (cursor !== undefined) return cursor
  }
  return undefined
}

function opened(key: Uint8Array, purpose: string, bytes: Buffer): string | undefined {
  const nonce = bytes.subarray(0, nonceBytes)
  const decipher = createDecipheriv(cipherName, sealingKey(key), nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(purpose))
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  const start = decipher.update(bytes.subarray(nonceBytes + tagBytes))
  // The library reports a wrong tag by throwing; here that is an ordinary answer.
  try {
    return Buffer.concat([start, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
