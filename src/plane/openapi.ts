/** OpenAPI 3.1 from the table: one document per namespace and version. Pure: the same table, the same text. */

import { nearestApiVersion } from '#kernel/api-version.ts'
import type { ErrorFamily } from '#kernel/error.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { RouteDescription } from './plane.ts'

export interface OpenApiDocument {
  readonly namespace: string
  readonly version: string
  readonly document: object
}

/** Every document the table makes, in a stable order. */
export function openApiDocuments(
  routes: readonly RouteDescription[],
  words: VendorWords,
): readonly OpenApiDocument[] {
  return openApiNames(routes).map(({ namespace, version }) => ({
    namespace,
    version,
    document: openApiDocument(routes, namespace, version, words),
  }))
}

/** The names of the documents. Types without versions of their own appear in every document of their namespace. */
export function openApiNames(
  routes: readonly RouteDescription[],
): readonly Omit<OpenApiDocument, 'document'>[] {
  const namespaces = new Map<string, Set<string>>()
  for (const route of routes) {
    const versions = namespaces.get(route.namespace) ?? new Set<string>()
    for (const version of route.versions) versions.add(version)
    namespaces.set(route.namespace, versions)
  }
  return [...namespaces].flatMap(([namespace, versions]) =>
    [...versions].sort().map((version) => ({ namespace, version })),
  )
}

export function openApiDocument(
  routes: readonly RouteDescription[],
  namespace: string,
  version: string,
  words: VendorWords,
): object {
  const paths: Record<string, Record<string, object>> = {}
  const families = new Set<ErrorFamily>()
  const kinds = new Set<Envelope>()
  for (const route of routes) {
    if (route.namespace !== namespace) continue
    if (route.versions.length > 0 && !route.versions.includes(version)) continue
    families.add(route.errorFamily)
    if (route.envelope !== undefined) kinds.add(route.envelope)
    const item = paths[route.path] ?? { parameters: parametersOf(route) }
    item[route.method.toLowerCase()] = operationOf(route, version, words)
    paths[route.path] = item
  }
  return {
    openapi: '3.1.0',
    info: { title: namespace, version },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      parameters: {
        apiVersion: {
          name: 'api-version',
          in: 'query',
          required: true,
          schema: { type: 'string', minLength: 1, const: version },
        },
      },
      headers: { EntityTag: { description: 'Of the resource.', schema: { type: 'string' } } },
      schemas: Object.fromEntries([
        ...[...families].sort().map((one) => [schemaName(one), errors[one]]),
        ...[...kinds].sort().map((one) => [envelopeNames[one], envelopes[one]]),
      ]),
      securitySchemes: {
        oauth: {
          type: 'oauth2',
          flows: {
            implicit: {
              authorizationUrl: '/common/oauth2/authorize',
              scopes: { user_impersonation: 'impersonate the user account' },
            },
          },
        },
      },
    },
    security: [{ oauth: ['user_impersonation'] }],
  }
}

function parametersOf({ path, names = {} }: RouteDescription): readonly object[] {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: {
      type: 'string',
      minLength: 1,
      ...(names[name] === undefined ? {} : { pattern: names[name] }),
    },
    // A scope is a path itself, so its slashes are not escaped.
    ...(name === 'scope' ? { allowReserved: true } : {}),
  }))
  return [...named, { $ref: '#/components/parameters/apiVersion' }]
}

function operationOf(route: RouteDescription, version: string, words: VendorWords): object {
  const body = route.body?.(version)
  const shape = route.answer?.(version)
  const answer = route.envelope === undefined ? shape : enveloped(shape, route.envelope)
  const content = answer === undefined ? undefined : { 'application/json': { schema: answer } }
  const isList = route.operationName.endsWith('_List')
  const shown =
    isList && answer !== undefined ? { 'application/json': { schema: listOf(answer) } } : content
  const compatible = route.compatibleVersions.filter(
    (date) => nearestApiVersion(route.versions, date) === version,
  )
  const success = (description: string): object => ({
    description,
    ...(shown === undefined ? {} : { content: shown }),
    ...(route.hasEtag === true ? { headers: entityTag } : {}),
  })
  return {
    operationId: route.operationName,
    summary: route.summary,
    'x-permission': route.action,
    // Released with a 204 that is never answered (decision 0167).
    ...(route.method === 'POST' && route.always200 === true ? { 'x-unanswered': ['204'] } : {}),
    // Versions answered in this shape as well.
    ...(compatible.length === 0 ? {} : { 'x-alike-versions': compatible }),
    ...(route.query === undefined ? {} : { parameters: route.query.map(inQuery) }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      ...statuses(route, success, words),
      default: {
        description: 'Any other status is an error.',
        content: {
          'application/json': {
            schema: { $ref: `#/components/schemas/${schemaName(route.errorFamily)}` },
          },
        },
      },
    },
  }
}

const wholeNumbers = new Set(['$top', '$skip', 'top', 'skip', 'tail'])
const truthValues = new Set(['count', 'timestamps'])

function inQuery(name: string): object {
  const type = wholeNumbers.has(name) ? 'integer' : truthValues.has(name) ? 'boolean' : 'string'
  return { name, in: 'query', schema: { type } }
}

function statuses(
  route: RouteDescription,
  success: (description: string) => object,
  words: VendorWords,
): Readonly<Record<string, object>> {
  const accepted = {
    description: 'Accepted; follow the operation.',
    headers: Object.fromEntries(
      ['Location', `${words.brand}-AsyncOperation`, 'Retry-After'].map((name) => [
        name,
        { schema: { type: 'string' } },
      ]),
    ),
  }
  const bodies = { resource: success(''), operation: { content: operationStarted }, none: {} }
  const declared: Readonly<Record<string, object>> =
    route.accepted === undefined
      ? {}
      : { 202: { ...bodies[route.accepted], ...accepted, 'x-added': true } }
  switch (route.method) {
    case 'PUT':
      return { 200: success('Updated.'), 201: success('Created.'), ...declared }
    case 'DELETE':
      return {
        200: success('Deleted.'),
        ...(route.longRunning
          ? { 202: { ...accepted, ...(route.accepted === 'operation' ? startedLater : {}) } }
          : declared),
        204: { description: 'There was nothing to delete.' },
      }
    case 'POST':
      return {
        200: success('Done.'),
        ...(route.longRunning ? { 202: accepted } : {}),
        ...(route.always200 === true ? {} : { 204: { description: 'Done.' } }),
        ...Object.fromEntries(
          (route.statuses ?? []).map((one) => [
            one,
            {
              'x-added': true,
              ...(one !== 202 || route.acceptedShows === true ? success('Done.') : {}),
              ...(one === 202 ? accepted : {}),
            },
          ]),
        ),
      }
    default:
      return { 200: success('The answer.'), ...declared }
  }
}

const entityTag = { ETag: { $ref: '#/components/headers/EntityTag', 'x-added': true } }

const operationStarted = {
  'application/json': {
    schema: {
      type: 'object',
      properties: {
        operation: { type: 'string' },
        startTime: { type: 'string', format: 'date-time' },
      },
    },
  },
}

/** Where the status was released without it. */
const startedLater = {
  content: {
    'application/json': {
      schema: { ...operationStarted['application/json'].schema, 'x-added': true },
    },
  },
}

type Envelope = NonNullable<RouteDescription['envelope']>

const envelopeNames: Readonly<Record<Envelope, string>> = {
  plain: 'Resource',
  tracked: 'TrackedResource',
  loose: 'ComputedResource',
}

const time = { type: 'string', format: 'date-time' }
const text = { type: 'string' }
const always = {
  id: text,
  name: text,
  type: text,
  systemData: {
    type: 'object',
    properties: {
      createdAt: time,
      createdBy: text,
      createdByType: text,
      lastModifiedAt: time,
      lastModifiedBy: text,
      lastModifiedByType: text,
    },
  },
}
const placed = {
  ...always,
  location: text,
  tags: { type: 'object', additionalProperties: text },
}

/** The envelope around an item. `x-envelope` marks members that no type declares itself (decision 0083). */
const envelopes: Readonly<Record<Envelope, object>> = {
  plain: {
    'x-envelope': true,
    type: 'object',
    required: ['id', 'name', 'type'],
    properties: always,
  },
  tracked: {
    'x-envelope': true,
    type: 'object',
    required: ['id', 'name', 'type', 'tags'],
    properties: placed,
  },
  loose: { 'x-envelope': true, type: 'object', properties: placed },
}

/** An item as it is answered: its own schema inside the envelope. */
function enveloped(shape: object | undefined, kind: Envelope): object {
  const around = { $ref: `#/components/schemas/${envelopeNames[kind]}` }
  if (shape !== undefined) return { allOf: [around, shape] }
  // The type declares no more, so any further member is possible.
  return { 'x-envelope': true, allOf: [around], additionalProperties: true }
}

function listOf(item: object): object {
  return {
    type: 'object',
    required: ['value'],
    properties: {
      value: { type: 'array', items: item },
      nextLink: { type: 'string', format: 'uri' },
      // For lists that report it.
      count: { 'x-envelope': true, type: 'integer' },
    },
  }
}

function schemaName(family: ErrorFamily): string {
  return family === 'health' ? 'HealthError' : family === 'data-share' ? 'DataShareError' : 'Error'
}

const detail = {
  type: 'object',
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    target: { type: 'string' },
    details: { type: 'array', items: { type: 'object' } },
  },
}

/** The three families of the contract's section on errors. */
const errors: Readonly<Record<ErrorFamily, object>> = {
  'resource-manager': {
    type: 'object',
    properties: {
      error: {
        ...detail,
        properties: {
          ...detail.properties,
          additionalInfo: {
            type: 'array',
            items: {
              type: 'object',
              properties: { type: { type: 'string' }, info: { type: 'object' } },
            },
          },
        },
      },
    },
  },
  health: {
    type: 'object',
    properties: {
      code: { type: 'string' },
      message: { type: 'string' },
      details: { type: 'string' },
    },
  },
  'data-share': { type: 'object', properties: { error: detail } },
}
