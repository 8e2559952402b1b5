/** Follows links to templates and parameter files whose address the operator allowed. It fetches nothing itself. */

import { isJsonObject } from '#kernel/patch.ts'
import type { Awaited } from '#kernel/room.ts'
import { refuseDeployment } from '../../errors.ts'

/** The target of a link, or why it is not followed. */
export type LinkedText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string }

/** Fetches links to other servers. */
export interface TemplateLinks {
  /**
   * The text at an address. It follows no redirect, contacts only what the operator allowed, and reads a bounded
   * amount in a bounded time. Never throws.
   */
  read(uri: string): Promise<LinkedText>
  /**
   * Runs the work that reads links and holds what it read: a little at once for each owner, since linked texts are no
   * part of the requests that bring them. The rest waits, and no longer than anybody waits for it.
   */
  inRoom<T>(ownerId: string, work: () => Promise<T>, awaited: Awaited): Promise<T>
}

/**
 * The recorded and shown form: an address without its query, which may contain a key, or the id of a template spec.
 */
export interface ShownLink {
  readonly uri?: string
  readonly id?: string
  readonly contentVersion?: string
}

export interface Followed {
  readonly text: string
  readonly link: ShownLink
}

const shownMax = 500

/** Undefined without a link. Throws `InvalidContentLink` when it cannot be followed. */
export async function followLink(
  link: unknown,
  links: TemplateLinks | undefined,
): Promise<Followed | undefined> {
  if (!isJsonObject(link)) return undefined
  const { uri, relativePath, queryString, contentVersion } = link
  if (typeof uri !== 'string') throw refused(String(relativePath ?? ''), relativeReason)
  const shown = uri.replace(/[?#].*$/s, '').slice(0, shownMax)
  if (links === undefined) throw refused(shown, 'this installation follows none')
  const query = typeof queryString === 'string' ? queryString.replace(/^\??/, '?') : ''
  const read = await links.read(`${uri}${query}`)
  if (!read.ok) throw refused(shown, read.reason)
  const version = typeof contentVersion === 'string' ? { contentVersion } : {}
  return { text: read.text, link: { uri: shown, ...version } }
}

const relativeReason = 'a relative path needs a template that was itself linked'

function refused(uri: string, reason: string): Error {
  return refuseDeployment.InvalidContentLink({ uri: uri.slice(0, shownMax), reason })
}

/** Throws when the link names another version than the template has. */
export function requireContentVersion({ contentVersion, uri, id }: ShownLink, found: string): void {
  if (contentVersion === undefined || contentVersion === found) return
  throw refused(
    uri ?? id ?? '',
    `it has the contentVersion ${found.slice(0, 40)}, not ${contentVersion}`,
  )
}
