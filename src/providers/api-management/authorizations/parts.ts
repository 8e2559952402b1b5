/** What authorizations need of the installation, and small things made of it. */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock, Ids, Log, Seal } from '#kernel/ports.ts'
import type { Directory } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { Timers } from '#plane/reconciler.ts'

/** Asks token endpoints. It is what keeps requests from going where they must not. */
export interface TokenEndpoint {
  /** A form by POST. Never throws. */
  ask(url: string, form: Readonly<Record<string, string>>): Promise<TokenAnswer>
}

export type TokenAnswer =
  | { readonly ok: true; readonly answer: Readonly<Record<string, unknown>> }
  | {
      readonly ok: false
      /** `invalid_grant` and the like, or one of our own. */
      readonly error: string
      readonly message: string
      /** Asking again later may help. */
      readonly transient: boolean
    }

export interface ConsentParts {
  readonly seal: Seal
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly timers: Timers
  readonly directory: Pick<Directory, 'groupsOf'>
  readonly tokens: TokenEndpoint
  /** Addresses that end with a slash: browsers may go back to what is below them. */
  readonly redirects: readonly string[]
  readonly services: Pick<PlaneServices, 'reader' | 'amend'>
  publicUrl(): string
}

export const callbackPath = '/consent/callback'

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** In constant time. Both are hashes. */
export function sameHash(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * May a browser be sent there at the end? Below an address the operator listed, below our own, or on the person's
 * own machine (RFC 8252, 7.3).
 */
export function isAllowedRedirect(
  text: string,
  parts: Pick<ConsentParts, 'redirects' | 'publicUrl'>,
): boolean {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false
  if (url.username !== '' || url.password !== '' || url.hash !== '') return false
  if (url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)) {
    return true
  }
  return [`${parts.publicUrl()}/`, ...parts.redirects].some((one) => {
    const allowed = URL.parse(one)
    return (
      allowed !== null && url.origin === allowed.origin && url.pathname.startsWith(allowed.pathname)
    )
  })
}

export interface Ref {
  /** Key of the authorization. */
  readonly key: string
  readonly login: string
  readonly nonce?: string
}

/** A text that only this installation can make: what a link or a state stands for. */
export function packRef(seal: Seal, context: string, ref: Ref): string {
  return Buffer.from(seal.seal(JSON.stringify(ref), context)).toString('base64url')
}

export function openRef(seal: Seal, context: string, text: string): Ref | undefined {
  const opened = seal.open(Buffer.from(text, 'base64url').toString(), context)
  // Sealed by `packRef` alone.
  return opened === undefined ? undefined : (JSON.parse(opened) as Ref)
}

export function parentKey(id: ResourceId | string): string {
  const key = typeof id === 'string' ? id : id.key
  return key.split('/').slice(0, -2).join('/')
}
