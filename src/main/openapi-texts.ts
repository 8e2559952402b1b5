/**
 * The OpenAPI documents as they are sent, by their path below `/openapi/`. Anyone may read them without a token, so
 * each is made once and kept as text: an answer costs no more than its bytes.
 */

import { compareApiVersions, isApiVersion, nearestApiVersion } from '#kernel/api-version.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { openApiDocument, openApiNames } from '#plane/openapi.ts'
import type { Plane, RouteDescription } from '#plane/plane.ts'

interface Entry {
  readonly namespace: string
  readonly version: string
  text: string | undefined
}

interface Documents {
  readonly routes: readonly RouteDescription[]
  /** The list of all addresses. */
  readonly index: string
  /** By version, then by the namespace in lower case. */
  readonly byNamespace: ReadonlyMap<string, ReadonlyMap<string, Entry>>
}

/**
 * The empty path is the list of the documents. `{namespace}/{version}.json` is one of them, or the one nearest to
 * that version. Each is made on its first request, since most are never requested and all together are 10 MB of
 * text.
 */
export function openApiTexts(
  plane: Pick<Plane, 'describe'>,
  words: VendorWords,
): (path: string) => string | undefined {
  let made: Documents | undefined
  return (path) => {
    made ??= documentsOf(plane)
    return path === '' ? made.index : textAt(made, path, words)
  }
}

function documentsOf(plane: Pick<Plane, 'describe'>): Documents {
  const routes = plane.describe()
  const names = openApiNames(routes)
  const byNamespace = new Map<string, Map<string, Entry>>()
  for (const { namespace, version } of names) {
    const name = namespace.toLowerCase()
    const versions = byNamespace.get(name) ?? new Map<string, Entry>()
    byNamespace.set(name, versions.set(version, { namespace, version, text: undefined }))
  }
  const addresses = names.map((one) => `/openapi/${one.namespace}/${one.version}.json`)
  return { routes, index: JSON.stringify({ value: addresses }), byNamespace }
}

function textAt(
  { routes, byNamespace }: Documents,
  path: string,
  words: VendorWords,
): string | undefined {
  const [namespace = '', version = ''] = path
    .toLowerCase()
    .replace(/\.json$/, '')
    .split('/')
  const own = byNamespace.get(namespace)
  if (own === undefined) return undefined
  const wanted =
    own.has(version) || !isApiVersion(version)
      ? version
      : nearestApiVersion([...own.keys()].sort(compareApiVersions), version)
  const entry = wanted === undefined ? undefined : own.get(wanted)
  if (entry === undefined) return undefined
  entry.text ??= JSON.stringify(openApiDocument(routes, entry.namespace, entry.version, words))
  return entry.text
}
