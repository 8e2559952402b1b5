/**
 * The form of a sealed text: `~<key>.<purpose>.<nonce, tag, ciphertext>`. It names the key it was sealed with, so it can be
 * found in any text and sealed anew without knowing what it is for. The context stands inside, as a hash.
 */

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { isSealPurpose, type SealPurpose } from '#kernel/seal-purposes.ts'
import type { SealingKey } from './sealing-key.ts'

const nonceBytes = 12
const tagBytes = 16
const hashBytes = 32
const keyBytes = 32

/** The first byte of what is inside: a text of today, or one of before this form that carries its own key. */
const kinds = { text: 0, earlier: 1 } as const

interface SealedText {
  readonly keyId: string
  readonly purpose: SealPurpose
  readonly body: string
}

/** The body of a sealed empty text has 82 characters. */
const form = /~([0-9a-f]{12})\.([a-z-]{1,30})\.([A-Za-z0-9_-]{82,})/g
const whole = new RegExp(`^${form.source}$`)

export function parseSealed(text: string): SealedText | undefined {
  const [, keyId, purpose, body] = whole.exec(text) ?? []
  if (keyId === undefined || purpose === undefined || body === undefined) return undefined
  return isSealPurpose(purpose) ? { keyId, purpose, body } : undefined
}

/** What looks sealed is opened to see whether it is; so many of them take some milliseconds. */
const openedAtOnce = 200

/**
 * Calls back for every text of that form in a larger one, and puts in its place what comes back. Whoever writes text may
 * write many that only look sealed, so it yields where the work may pause.
 */
export function* replaceSealed(
  text: string,
  replace: (sealed: SealedText) => string | undefined,
): Generator<void, string> {
  const pieces: string[] = []
  let behind = 0
  let opened = 0
  for (const { 0: found, index } of text.matchAll(form)) {
    if (++opened % openedAtOnce === 0) yield
    const sealed = parseSealed(found)
    const fresh = sealed === undefined ? undefined : replace(sealed)
    if (fresh === undefined) continue
    pieces.push(text.slice(behind, index), fresh)
    behind = index + found.length
  }
  return pieces.join('') + text.slice(behind)
}

export function sealText(
  key: SealingKey,
  purpose: SealPurpose,
  context: string,
  text: string,
): string {
  return write(
    key,
    purpose,
    Buffer.concat([Buffer.of(kinds.text), hashOf(context), Buffer.from(text, 'utf8')]),
  )
}

/** Undefined for another key, another context, or a changed text. */
export function openText(key: SealingKey, sealed: SealedText, context: string): string | undefined {
  const inner = read(key, sealed)
  if (inner === undefined) return undefined
  if (inner[0] === kinds.text) {
    const isOfContext = inner.subarray(1, 1 + hashBytes).equals(hashOf(context))
    return isOfContext ? inner.toString('utf8', 1 + hashBytes) : undefined
  }
  const earlier = inner.subarray(1, 1 + keyBytes)
  return decrypt(earlier, inner.subarray(1 + keyBytes), Buffer.from(context))?.toString('utf8')
}

/** The same under another key. Undefined where `from` is not its key. */
export function resealText(
  from: SealingKey,
  to: SealingKey,
  sealed: SealedText,
): string | undefined {
  const inner = read(from, sealed)
  return inner === undefined ? undefined : write(to, sealed.purpose, inner)
}

/**
 * A text of before this form, which does not name its key and cannot be opened without its context. It is put inside as it
 * is, with the key that opens it.
 */
export function wrapEarlier(key: SealingKey, purpose: SealPurpose, earlier: string): string {
  const inner = Buffer.concat([
    Buffer.of(kinds.earlier),
    // Its purpose had blanks in its name.
    key.deriveEarlier(purpose.replaceAll('-', ' '), 'seal'),
    Buffer.from(earlier, 'base64url'),
  ])
  return write(key, purpose, inner)
}

function write(key: SealingKey, purpose: SealPurpose, inner: Uint8Array): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key.derive(`sealing/${purpose}`), nonce, {
    authTagLength: tagBytes,
  })
  cipher.setAAD(Buffer.from(`${key.id}.${purpose}`))
  const body = Buffer.concat([cipher.update(inner), cipher.final()])
  return `~${key.id}.${purpose}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`
}

function read(key: SealingKey, sealed: SealedText): Buffer | undefined {
  if (key.id !== sealed.keyId) return undefined
  return decrypt(
    key.derive(`sealing/${sealed.purpose}`),
    Buffer.from(sealed.body, 'base64url'),
    Buffer.from(`${key.id}.${sealed.purpose}`),
  )
}

function decrypt(key: Uint8Array, bytes: Buffer, associated: Buffer): Buffer | undefined {
  if (bytes.length < nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(associated)
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  const start = decipher.update(bytes.subarray(nonceBytes + tagBytes))
  // The library reports a wrong tag by throwing; here that is an ordinary answer.
  try {
    return Buffer.concat([start, decipher.final()])
  } catch {
    return undefined
  }
}

function hashOf(context: string): Buffer {
  return createHash('sha256').update(context).digest()
}
