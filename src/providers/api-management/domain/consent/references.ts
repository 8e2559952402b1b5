/** What a consent sends through browsers: sealed references to a login, hashes, and allowed redirects. */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { Seal } from '#kernel/ports.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { ConsentDependencies } from '../../dependencies.ts'

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** Compares two hashes in constant time. */
export function sameHash(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Whether the browser may be redirected there in the end: below an address the operator listed, below our own, or
 * on the person's own machine (RFC 8252, 7.3).
 */
export function isAllowedRedirect(
  text: string,
  deps: Pick<ConsentDependencies, 'redirects' | 'publicUrl'>,
): boolean {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false
  if (url.username !== '' || url.password !== '' || url.hash !== '') return false
  if (url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)) {
    return true
  }
  return [`${deps.publicUrl()}/`, ...deps.redirects].some((one) => {
    const allowed = URL.parse(one)
    return (
      allowed !== null && url.origin === allowed.origin && url.pathname.startsWith(allowed.pathname)
    )
  })
}

export interface Ref {
  /** The key of the authorization. */
  readonly key: string
  readonly login: string
  readonly nonce?: string
}

/** A text that only this installation can make; links and states contain it. */
export function packRef(seal: Seal, context: string, ref: Ref): string {
  return Buffer.from(seal.seal(JSON.stringify(ref), context)).toString('base64url')
}

export function openRef(seal: Seal, context: string, text: string): Ref | undefined {
  const opened = seal.open(Buffer.from(text, 'base64url').toString(), context)
  // Only `packRef` seals this.
  return opened === undefined ? undefined : (JSON.parse(opened) as Ref)
}

export function parentKey(id: ResourceId | string): string {
  const key = typeof id === 'string' ? id : id.key
  return key.split('/').slice(0, -2).join('/')
}

export const callbackPath = '/consent/callback'
