/**
 * Resources of types that no other provider serves, stored as documents. The plane sends their requests here by
 * `unserved`. A type is unknown until a path names it.
 */

import type { Directory } from '#kernel/principal.ts'
import type { Provider } from '#plane/declare/provider.ts'
import { isInventedUuid } from '#plane/invented.ts'
import type { RouteDescription } from '#plane/plane.ts'
import type { GenericDependencies } from './dependencies.ts'
import { computedProperties } from './domain/computed-properties.ts'
import { readSchemas } from './domain/schemas.ts'
import { genericType } from './resources/documents/resource.ts'

const namespaceForm = /^[A-Za-z][A-Za-z0-9]{0,62}(\.[A-Za-z][A-Za-z0-9]{0,62}){1,5}$/
const wordForm = /^[A-Za-z][A-Za-z0-9._-]{0,79}$/
const wordsMax = 10

/** The api-version shown for listed types that have none of their own. */
const listedVersion = '2025-01-01'

/** The types that lists of providers show. Every other type is accepted as well. */
export function genericRoutes({
  words,
  schemaFiles,
}: Pick<GenericDependencies, 'words' | 'schemaFiles'>): readonly RouteDescription[] {
  const known = new Map(
    computedProperties
      .filter(({ type }) => type !== '*')
      .map(({ type }) => [
        `${words.namespace}.${type}`.toLowerCase(),
        `${words.namespace}.${type}`,
      ]),
  )
  const given = readSchemas(schemaFiles).types
  for (const [key, { type }] of given) known.set(key, type)
  return [...known].map(([key, type]) => ({
    namespace: type.slice(0, type.indexOf('/')),
    type,
    versions: given.get(key)?.versions ?? [listedVersion],
    compatibleVersions: [],
    method: 'PUT',
    path: `/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/${type}`,
    action: `${type}/write`,
    summary: 'Store a document',
    operationName: 'Generic_CreateOrUpdate',
    longRunning: false,
    errorFamily: 'resource-manager',
  }))
}

/** A directory that also knows the principals of documents, since templates assign roles to them. */
export function withDocumentPrincipals<T extends Pick<Directory, 'find'>>(directory: T): T {
  return {
    ...directory,
    find: async (id: string) =>
      (await directory.find(id)) ??
      (isInventedUuid(id)
        ? { type: 'ServicePrincipal' as const, displayName: 'a document of an unserved type' }
        : undefined),
  }
}

/** Throws `SchemaFileError`. */
export function genericProvider(deps: GenericDependencies): Provider {
  const shared = { ...deps, schemas: readSchemas(deps.schemaFiles) }
  return {
    namespace: 'Generic',
    description: 'Resources of types that nobody serves, stored as documents.',
    types: [],
    unserved(namespace, types) {
      if (!namespaceForm.test(namespace) || types.length > wordsMax) return undefined
      if (!types.every((one) => wordForm.test(one))) return undefined
      return genericType(shared, `${namespace}/${types.join('/')}`)
    },
  }
}
