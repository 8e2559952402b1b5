/** Rules for the names of a principal and for its redirect addresses. Pure: returns or refuses. */

import { isUuid } from '#kernel/uuid.ts'
import { refuseIdentity } from './errors.ts'
import type { IdentityLimits } from './limits.ts'

export function checkDisplayName(name: string, limits: IdentityLimits): string {
  const trimmed = name.trim()
  if (trimmed === '') throw invalid('the display name is empty')
  if (trimmed.length > limits.nameLengthMax) {
    throw invalid(`the display name has more than ${limits.nameLengthMax} characters`)
  }
  if (hasControl(trimmed)) throw invalid('the display name contains control characters')
  return trimmed
}

export function checkSignInName(name: string, limits: IdentityLimits): string {
  if (name === '' || name.length > limits.nameLengthMax) {
    throw invalid(`the sign-in name must have 1 to ${limits.nameLengthMax} characters`)
  }
  if (/\s/.test(name) || hasControl(name)) {
    throw invalid('the sign-in name contains white space or control characters')
  }
  return name
}

/**
 * An id in the directory's spelling, or `undefined` for text that cannot be one. Such text never reaches the store,
 * which cannot hold every text.
 */
export function parseObjectId(text: string): string | undefined {
  const lower = text.toLowerCase()
  return isUuid(lower) ? lower : undefined
}

/** The client id of a public client, in the directory's spelling. */
export function checkClientId(clientId: string | undefined): string | undefined {
  if (clientId === undefined) return undefined
  const id = parseObjectId(clientId)
  if (id === undefined) throw invalid('the client id is no UUID')
  return id
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * The addresses must be absolute, without a fragment, and use https. Only an address on the caller's own machine
 * may use http (RFC 8252, 7.3).
 */
export function checkRedirectUris(
  uris: readonly string[],
  limits: IdentityLimits,
): readonly string[] {
  if (uris.length > limits.redirectUrisMax) {
    throw invalid(`there may be at most ${limits.redirectUrisMax} redirect URIs`)
  }
  for (const uri of uris) {
    const parsed = URL.canParse(uri) ? new URL(uri) : undefined
    if (parsed === undefined || uri.length > 2048) {
      throw invalid(`the redirect URI '${uri.slice(0, 200)}' is not an absolute URI`)
    }
    if (uri.includes('#')) throw invalid(`the redirect URI '${uri}' has a fragment`)
    if (parsed.username !== '' || parsed.password !== '') {
      throw invalid(`the redirect URI '${uri}' carries credentials`)
    }
    const safe =
      parsed.protocol === 'https:' || (parsed.protocol === 'http:' && loopback.has(parsed.hostname))
    if (!safe) {
      throw invalid(`the redirect URI '${uri}' must use https, or http to a loopback address`)
    }
  }
  return [...new Set(uris)]
}

export function hasControl(text: string): boolean {
  return /\p{Cc}|\p{Cs}/u.test(text)
}

function invalid(reason: string): Error {
  return refuseIdentity.InvalidPrincipal({ reason })
}
