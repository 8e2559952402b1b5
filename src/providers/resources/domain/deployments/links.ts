/** Follows links to templates and parameter files, where the operator allowed their address. Fetches nothing itself. */

import { isJsonObject } from '#kernel/patch.ts'
import { refuseDeployment } from '../../errors.ts'

/** What a link leads to, or why it is not followed. */
export type LinkedText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string }

/** The way to what lies outside of the installation. */
export interface TemplateLinks {
  /**
   * The text at an address. Follows no redirect, reaches only what the operator allowed, and reads a bounded
   * amount in a bounded time. Throws nothing.
   */
  read(uri: string): Promise<LinkedText>
}

/** As it is recorded and shown: an address without a query, which may hold a key, or the id of a template spec. */
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

/** Undefined where there is no link. Throws `InvalidContentLink` when it cannot be followed. */
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
