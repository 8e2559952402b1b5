/**
 * The OpenAPI documents as they are sent, found by their path below `/openapi/`. Anyone may ask for them without a token,
 * so they are made once, and each is written as text once: an answer costs no more than its bytes.
 */

import { compareApiVersions, isApiVersion, nearestApiVersion } from '#kernel/api-version.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { openApiDocuments } from '#plane/openapi.ts'
import type { Plane } from '#plane/plane.ts'

interface Entry {
  readonly document: object
  text: string | undefined
}

interface Documents {
  /** The list of all addresses. */
  readonly index: string
  /** By version, by the namespace in lower case. */
  readonly byNamespace: ReadonlyMap<string, ReadonlyMap<string, Entry>>
}

/**
 * The empty path is the list of the documents; `{namespace}/{version}.json` is one of them, or the nearest to that
 * version. They are made when the first is asked for, since most servers never are.
 */
export function openApiTexts(
  plane: Pick<Plane, 'describe'>,
  words: VendorWords,
): (path: string) => string | undefined {
  let made: Documents | undefined
  return (path) => {
    made ??= documentsOf(plane, words)
    return path === '' ? made.index : textAt(made, path)
  }
}

function documentsOf(plane: Pick<Plane, 'describe'>, words: VendorWords): Documents {
  const documents = openApiDocuments(plane.describe(), words)
  const byNamespace = new Map<string, Map<string, Entry>>()
  for (const { namespace, version, document } of documents) {
    const name = namespace.toLowerCase()
    const versions = byNamespace.get(name) ?? new Map<string, Entry>()
    byNamespace.set(name, versions.set(version, { document, text: undefined }))
  }
  const addresses = documents.map((one) => `/openapi/${one.namespace}/${one.version}.json`)
  return { index: JSON.stringify({ value: addresses }), byNamespace }
}

function textAt({ byNamespace }: Documents, path: string): string | undefined {
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
  entry.text ??= JSON.stringify(entry.document)
  return entry.text
}
