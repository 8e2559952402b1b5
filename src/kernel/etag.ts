/** Entity tags and the precondition table of facts 9.3. Pure. */

export interface Preconditions {
  /** The header's value; `undefined` when it was not sent. */
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
}

type Verdict =
  | { readonly kind: 'go' }
  | { readonly kind: 'not-modified' }
  | { readonly kind: 'failed'; readonly header: 'If-Match' | 'If-None-Match' }

const go: Verdict = { kind: 'go' }

/** The tag as it is sent: strong, quoted. */
export function formatEtag(etag: string): string {
  return `"${etag}"`
}

/** Whether a header (a list of tags, weak or strong, or `*`) names this tag. An absent resource matches nothing. */
export function matchesEtag(header: string, etag: string | undefined): boolean {
  if (etag === undefined) return false
  for (const part of header.split(',')) {
    const one = part.trim()
    if (one === '*') return true
    const opaque = one.startsWith('W/') ? one.slice(2) : one
    const bare = opaque.startsWith('"') && opaque.endsWith('"') ? opaque.slice(1, -1) : opaque
    if (bare === etag) return true
  }
  return false
}

/**
 * Decides what the preconditions allow, given the current tag (`undefined`: no such resource). A PATCH or GET of an
 * absent resource is 404 before any precondition, and a DELETE of one is 204; callers handle both first.
 */
export function checkPreconditions(
  method: 'GET' | 'PUT' | 'PATCH' | 'DELETE' | 'POST',
  preconditions: Preconditions,
  current: string | undefined,
): Verdict {
  const { ifMatch, ifNoneMatch } = preconditions
  if (ifMatch !== undefined && method !== 'GET' && !matchesEtag(ifMatch, current)) {
    return { kind: 'failed', header: 'If-Match' }
  }
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, current)) {
    return method === 'GET' ? { kind: 'not-modified' } : { kind: 'failed', header: 'If-None-Match' }
  }
  return go
}
