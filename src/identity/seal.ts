/**
 * Seals small secrets with the installation's key: what is at rest is unreadable and unchangeable without
 * it. Knows nothing of what it seals, and never logs.
 */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

export interface Seal {
  /** Encrypted and authenticated. `context` (a kind and an id) must be given again to open it. */
  seal(text: string, context: string): string
  /** The text, or `undefined` when it was sealed with another key or context, or was changed. */
  open(sealed: string, context: string): string | undefined
  /** A keyed hash, base64url: finds a row by a secret without keeping the secret. */
  index(secret: string): string
  /** 32 bytes for another purpose, always the same for the same label. */
  derive(label: string): Buffer
}

const nonceBytes = 12
const tagBytes = 16

export function createSeal(installationKey: Uint8Array): Seal {
  if (installationKey.byteLength !== 32) throw new Error('the installation key must have 32 bytes')
  const derive = (label: string): Buffer =>
    Buffer.from(hkdfSync('sha256', installationKey, '', `armature/identity/${label}`, 32))
  const sealKey = derive('seal')
  const indexKey = derive('index')
  return {
    seal(text, context) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce, { authTagLength: tagBytes })
      cipher.setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < nonceBytes + tagBytes) return undefined
      const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      })
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
      const start = decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8')
      // The library reports a wrong tag by throwing; here that is an ordinary answer.
      try {
        return start + decipher.final('utf8')
      } catch {
        return undefined
      }
    },
    index: (secret) => createHmac('sha256', indexKey).update(secret).digest('base64url'),
    derive,
  }
}
