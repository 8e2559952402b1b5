/**
 * From method, path and query to a route: the refusals of path, version, namespace, type and method, in the
 * order of facts 9.7. Reads nothing but the table.
 */

import { compareApiVersions, isApiVersion } from '#kernel/api-version.ts'
import { type ErrorFamily, refuse } from '#kernel/error.ts'
import {
  type ParsedPath,
  parsePath,
  type ResourceId,
  rootId,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import { isUuid } from '#kernel/uuid.ts'
import {
  type CompiledStoredType,
  type CompiledType,
  isStored,
  permissionOf,
} from './compiled-type.ts'
import type { Action } from './declare/action.ts'
import type { ComputedWrite, Source } from './declare/computed.ts'
import type { StoredVerb } from './declare/stored.ts'
import type { Version } from './declare/wire.ts'
import type { Method, Route } from './plane.ts'
import { type Registry, type ServedVersion, servedVersion } from './registry.ts'
import { unknownNamespace } from './unknown-namespace.ts'

interface BaseRoute extends Route {
  readonly version: string
}

/** A route to a stored resource, with the schema of its body. */
export interface WriteRoute extends BaseRoute {
  readonly kind: 'put' | 'patch' | 'delete'
  readonly compiled: CompiledStoredType
  readonly shape: Version<unknown>
}

export interface ComputedWriteRoute extends BaseRoute {
  readonly kind: 'write-computed'
  readonly compiled: CompiledType
  readonly source: Source
  readonly method: 'PUT' | 'PATCH' | 'DELETE'
  readonly write: Omit<ComputedWrite, 'body'> & Partial<Pick<ComputedWrite, 'body'>>
}

export interface ReadRoute extends BaseRoute {
  readonly kind: 'get' | 'head' | 'list'
  readonly compiled: CompiledType
}

export interface ActionRoute extends BaseRoute {
  readonly kind: 'action'
  readonly compiled: CompiledType
  readonly declaredAction: Action<unknown>
}

export interface OperationRoute extends BaseRoute {
  readonly kind: 'operation-status' | 'operation-result'
}

/** A route together with the part of the table that serves it. */
export type LocatedRoute =
  | WriteRoute
  | ComputedWriteRoute
  | ReadRoute
  | ActionRoute
  | OperationRoute

type CollectionPath = Extract<ParsedPath, { kind: 'collection' }>

const verbOf: Readonly<Record<Exclude<Method, 'POST'>, StoredVerb>> = {
  GET: 'get',
  HEAD: 'get',
  PUT: 'put',
  PATCH: 'patch',
  DELETE: 'delete',
}

export function locate(
  registry: Registry,
  method: Method,
  path: string,
  query: URLSearchParams,
): LocatedRoute {
  // The contract writes `/{scope}/providers/…`. Clients that fill in a scope with a leading slash, or an empty one for
  // the root, send two slashes.
  const parsed = parsePath(path.startsWith('//') ? path.replace(/^\/{2,}/, '/') : path)
  if (parsed.kind === 'malformed') throw refuse.InvalidRequestUri({ reason: parsed.reason })
  const version = requestedVersion(query)
  const subscription = subscriptionOf(parsed.kind === 'resource' ? parsed.id : parsed.parent)
  if (subscription !== undefined && !isUuid(subscription)) {
    throw refuse.InvalidSubscriptionId({ id: subscription })
  }
  return parsed.kind === 'resource'
    ? locateResource(registry, method, parsed.id, version)
    : locateCollection(registry, method, parsed, version)
}

/**
 * The methods of a path, for OPTIONS; without an api-version, those of any version. Undefined where nothing is
 * served.
 */
export function methodsOf(
  registry: Registry,
  path: string,
  query: URLSearchParams,
): readonly string[] | undefined {
  const parsed = parsePath(path.startsWith('//') ? path.replace(/^\/{2,}/, '/') : path)
  if (parsed.kind === 'malformed') return undefined
  if (parsed.kind === 'collection') return collectionMethods(registry, parsed)
  const last = parsed.id.segments.at(-1)
  if (last === undefined) return undefined
  if (operationKind(last.namespace, last.types) !== undefined) return allowing(['GET'])
  const compiled = registry.find(last.namespace, last.types)
  if (compiled === undefined || !fitsScope(compiled, parsed.id)) return undefined
  return resourceMethods(compiled, query.get('api-version') ?? '')
}

/** The methods of a list, or of an action of the parent. */
function collectionMethods(
  registry: Registry,
  parsed: CollectionPath,
): readonly string[] | undefined {
  const compiled = registry.find(parsed.namespace, parsed.types)
  if (compiled !== undefined && isListable(compiled, parsed)) return listMethods(compiled)
  const parentTypes = parsed.types.slice(0, -1)
  const parent = parentTypes.length > 0 ? registry.find(parsed.namespace, parentTypes) : undefined
  if (parent === undefined || !fitsScope(parent, parsed.parent)) return undefined
  const found = findAction(parent, parsed.word)
  return found === undefined ? undefined : allowing([found[1].method])
}

function listMethods({ verbs, collectionActions }: CompiledType): readonly string[] {
  const listed = verbs.has('list') ? ['GET'] : []
  return allowing([...new Set([...listed, ...Object.keys(collectionActions)])])
}

/** The error family for a path that cannot be located: the deepest namespace in it decides. */
export function familyOfPath(registry: Registry, path: string): ErrorFamily {
  const parts = path.split('/')
  for (let at = parts.length - 2; at >= 0; at--) {
    if (parts[at]?.toLowerCase() === 'providers') {
      return registry.familyOf(parts[at + 1] ?? '') ?? 'resource-manager'
    }
  }
  return 'resource-manager'
}

function requestedVersion(query: URLSearchParams): string {
  let version = query.get('api-version')
  if (version === null) {
    for (const [name, value] of query) {
      if (name.toLowerCase() === 'api-version') version = value
    }
  }
  if (version === null || version.trim() === '') throw refuse.MissingApiVersionParameter()
  return version.trim()
}

function locateResource(
  registry: Registry,
  method: Method,
  id: ResourceId,
  asked: string,
): LocatedRoute {
  const last = id.segments.at(-1)
  if (last === undefined) throw refuse.NotFound({ path: '/' })
  const operation = operationKind(last.namespace, last.types)
  if (operation !== undefined && last.namespace !== undefined) {
    const request = { method, id, namespace: last.namespace, version: asked }
    return locateOperation(registry, operation, request)
  }
  const compiled = registry.find(last.namespace, last.types)
  if (compiled === undefined || !fitsScope(compiled, id)) {
    throw unknownType(registry, last.namespace, last.types, asked)
  }
  const served = requireServedVersion(registry, compiled, asked)
  const { version } = served
  const verb = method === 'POST' ? undefined : verbOf[method]
  if (verb === undefined || !isServed(compiled, version, verb)) {
    const { declaration } = compiled
    if ('absent' in declaration && method !== 'POST') {
      throw refuse.NotImplemented({ type: compiled.fullType, reason: declaration.description })
    }
    throw notAllowed(method, resourceMethods(compiled, version))
  }
  const write = verb === 'put' || verb === 'patch'
  const needs = write ? 'write' : verb === 'delete' ? 'delete' : 'read'
  const base = {
    id: compiled.stored?.sharedRow?.idOf(id) ?? id,
    type: compiled.declaration.countedAs ?? compiled.fullType,
    ...headersOf(compiled),
    action: compiled.permissions[needs],
    operation: compiled.permissions[needs],
    leavesRecord: needs !== 'read',
    scope: id,
    errorFamily: compiled.errorFamily,
    body: write ? (compiled.stored?.protocol?.bodyOptional ? 'optional' : 'required') : 'none',
    bodySyntax: compiled.stored?.protocol?.bodySyntax ?? 'strict',
    counts: write ? 'writes' : verb === 'delete' ? 'deletes' : 'reads',
    path: id.key,
    ...nearestVersion(served),
    version,
  } as const
  if (verb === 'get' || verb === 'list') {
    return { ...base, kind: method === 'HEAD' ? 'head' : 'get', compiled }
  }
  const shape = compiled.versions.get(version)
  if (isStored(compiled) && shape !== undefined) return { ...base, kind: verb, compiled, shape }
  const { source } = compiled
  const own = source?.[verb]
  if (source === undefined || own === undefined) {
    throw new Error(`${compiled.fullType} has no shape to write`)
  }
  const methods = { put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const
  return { ...base, kind: 'write-computed', compiled, source, method: methods[verb], write: own }
}

function locateCollection(
  registry: Registry,
  method: Method,
  parsed: CollectionPath,
  asked: string,
): LocatedRoute {
  const compiled = registry.find(parsed.namespace, parsed.types)
  const ofParent = (): ActionRoute | undefined => actionOfParent(registry, parsed, asked)
  // A type that nobody declares may have any name, that of an action too.
  const isDeclared = compiled !== undefined && registry.types.includes(compiled)
  const first = isDeclared ? undefined : ofParent()
  if (first !== undefined && fits(first.declaredAction.method, method)) return first
  if (compiled !== undefined && isListable(compiled, parsed)) {
    const listed = compiled.verbs.has('list')
    const verb = method === 'HEAD' ? 'GET' : method
    const own = verb === 'POST' || verb === 'GET' ? compiled.collectionActions[verb] : undefined
    if (own !== undefined) {
      const served = requireServedVersion(registry, compiled, asked)
      return actionRoute(compiled, parsed, { action: own, served })
    }
    if (verb === 'GET' && listed) {
      const served = requireServedVersion(registry, compiled, asked)
      return {
        kind: 'list',
        id: parsed.parent,
        type: compiled.declaration.countedAs ?? compiled.fullType,
        ...headersOf(compiled),
        action: compiled.isOpenList ? '' : compiled.permissions.read,
        operation: compiled.permissions.read,
        leavesRecord: false,
        scope: parsed.parent,
        errorFamily: compiled.errorFamily,
        body: 'none',
        bodySyntax: 'strict',
        counts: 'reads',
        path: parsed.text.toLowerCase(),
        ...nearestVersion(served),
        compiled,
        version: served.version,
      }
    }
  }
  const action = ofParent()
  if (action !== undefined) {
    const served = action.declaredAction.method
    if (!fits(served, method)) throw notAllowed(method, allowing([served]))
    return action
  }
  if (compiled !== undefined && isListable(compiled, parsed)) {
    requireServedVersion(registry, compiled, asked)
    throw notAllowed(method, listMethods(compiled))
  }
  throw unknownType(registry, parsed.namespace, parsed.types, asked)
}

/** The action of this name that the type above a collection has. */
function actionOfParent(
  registry: Registry,
  parsed: CollectionPath,
  asked: string,
): ActionRoute | undefined {
  const types = parsed.types.slice(0, -1)
  const parent = types.length > 0 ? registry.find(parsed.namespace, types) : undefined
  if (parent === undefined || !fitsScope(parent, parsed.parent)) return undefined
  const found = findAction(parent, parsed.word)
  if (found === undefined) return undefined
  const [name, action] = found
  const served = requireServedVersion(registry, parent, asked)
  return actionRoute(parent, parsed, { action, served, name })
}

/** HEAD is served wherever GET is: the edge leaves out the body. */
function fits(served: string, method: Method): boolean {
  return served === method || (served === 'GET' && method === 'HEAD')
}

function allowing(methods: readonly string[]): readonly string[] {
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}

function findAction(
  { actions, findAction }: CompiledType,
  word: string,
): readonly [string, Action<unknown>] | undefined {
  const lower = word.toLowerCase()
  const declared = Object.entries(actions).find(([name]) => name.toLowerCase() === lower)
  const found = declared ?? findAction?.(word)
  return found === undefined || 'length' in found ? found : [word, found]
}

function actionRoute(
  compiled: CompiledType,
  { parent, text }: CollectionPath,
  {
    action,
    served,
    name,
  }: {
    readonly action: Action<unknown>
    readonly served: ServedVersion
    readonly name?: string
  },
): ActionRoute {
  const named = permissionOf(compiled, action, name)
  const needs = action.open === true ? '' : named
  return {
    kind: 'action',
    id: parent,
    type: compiled.declaration.countedAs ?? compiled.fullType,
    ...headersOf(compiled),
    action: needs,
    operation: named,
    leavesRecord:
      action.revealsSecret === true || (action.method === 'POST' && action.countsAsRead !== true),
    scope: parent,
    errorFamily: compiled.errorFamily,
    body:
      action.body === undefined ? 'none' : action.bodyOptional === true ? 'optional' : 'required',
    bodySyntax: action.bodySyntax ?? compiled.stored?.protocol?.bodySyntax ?? 'strict',
    counts: action.method === 'GET' || action.countsAsRead === true ? 'reads' : 'writes',
    path: text.toLowerCase(),
    ...nearestVersion(served),
    compiled,
    version: served.version,
    declaredAction: action,
  }
}

function headersOf({ declaration }: CompiledType): Pick<Route, 'answerHeaders' | 'isOpen'> {
  const { answerHeaders, isOpen } = declaration
  return {
    ...(answerHeaders === undefined ? {} : { answerHeaders }),
    ...(isOpen === undefined ? {} : { isOpen }),
  }
}

function nearestVersion({ version, isUnlisted }: ServedVersion): Pick<Route, 'nearestVersion'> {
  return isUnlisted ? { nearestVersion: version } : {}
}

function operationKind(
  namespace: string | undefined,
  types: readonly string[],
): 'operation-status' | 'operation-result' | undefined {
  if (namespace === undefined || types.length !== 2) return undefined
  if (types[0]?.toLowerCase() !== 'locations') return undefined
  const word = types[1]?.toLowerCase()
  if (word === 'operationstatuses') return 'operation-status'
  return word === 'operationresults' ? 'operation-result' : undefined
}

interface OperationRequest {
  readonly method: Method
  readonly id: ResourceId
  readonly namespace: string
  readonly version: string
}

/** The caller's right is checked later, when the operation has been read: it names the resource. */
function locateOperation(
  registry: Registry,
  kind: OperationRoute['kind'],
  { method, id, namespace, version }: OperationRequest,
): OperationRoute {
  const errorFamily = registry.familyOf(namespace)
  if (errorFamily === undefined) throw notInstalled(registry, namespace)
  if (!fits('GET', method)) throw notAllowed(method, allowing(['GET']))
  if (!isApiVersion(version)) throw badVersion(version, namespace, 'any date')
  return {
    kind,
    id,
    type: `${namespace}/locations/${kind === 'operation-status' ? 'operationStatuses' : 'operationResults'}`,
    action: '',
    operation: `${namespace}/operations/read`,
    leavesRecord: false,
    scope: rootId,
    errorFamily,
    body: 'none',
    bodySyntax: 'strict',
    counts: 'reads',
    path: id.key,
    version,
  }
}

/** Whether the type may exist at this scope. */
function fitsScope(compiled: CompiledType, id: ResourceId): boolean {
  const [first] = id.segments
  const implied = first !== undefined && first.namespace === undefined ? first.types : []
  const depth = id.segments.length
  switch (compiled.declaration.scope) {
    case 'implied':
      return depth === 1 && implied.length > 0
    case 'tenant':
      return depth === 1 && implied.length === 0
    case 'subscription':
      return depth === 2 && implied.length === 1 && implied[0] === 'subscriptions'
    case 'resource-group':
      return depth === 2 && isGroup(implied)
    case 'any':
      return true
    default:
      return compiled.declaration.scope satisfies never
  }
}

function isGroup(implied: readonly string[]): boolean {
  return implied.length === 2 && implied[0] === 'subscriptions' && implied[1] === 'resourceGroups'
}

/** Whether this type's collection may be listed below this parent. */
function isListable(compiled: CompiledType, parsed: CollectionPath): boolean {
  const { parent } = parsed
  const [first] = parent.segments
  const implied = first !== undefined && first.namespace === undefined ? first.types : []
  const depth = parent.segments.length
  const nested = compiled.words.length > 1
  const { scope } = compiled.declaration
  if (scope === 'implied' || scope === 'any') return true
  const own = nested ? 1 : 0
  if (scope === 'tenant') return depth === own && implied.length === 0
  if (depth !== 1 + own) return false
  if (scope === 'subscription') return implied.length === 1 && implied[0] === 'subscriptions'
  if (implied.length === 2) return isGroup(implied)
  return (
    !nested &&
    implied.length === 1 &&
    implied[0] === 'subscriptions' &&
    compiled.stored?.list?.bySubscription !== false
  )
}

function isServed(compiled: CompiledType, version: string, verb: StoredVerb): boolean {
  if (!compiled.verbs.has(verb)) return false
  return verb !== 'patch' || compiled.versions.get(version)?.patch !== 'none'
}

function resourceMethods(compiled: CompiledType, version: string): readonly string[] {
  const methods: string[] = []
  if (isServed(compiled, version, 'get')) methods.push('GET', 'HEAD')
  for (const [verb, method] of [
    ['put', 'PUT'],
    ['patch', 'PATCH'],
    ['delete', 'DELETE'],
  ] as const) {
    if (isServed(compiled, version, verb)) methods.push(method)
  }
  return methods
}

function notAllowed(method: string, methods: readonly string[]): Error {
  const allow = methods.join(', ')
  return refuse.MethodNotAllowed(
    { method, allow: allow === '' ? 'none' : allow },
    { headers: { Allow: allow } },
  )
}

/** The version that answers. Throws `InvalidApiVersionParameter`. */
function requireServedVersion(
  registry: Registry,
  compiled: CompiledType,
  asked: string,
): ServedVersion {
  const served = servedVersion(compiled, asked, registry.versionRule)
  if (served !== undefined) return served
  const { dates, compatible: alike } = compiled
  const supported = dates === 'any' ? 'any date' : [...dates, ...alike].sort(compareApiVersions)
  throw badVersion(asked, compiled.fullType, String(supported).replaceAll(',', ', '))
}

function badVersion(version: string, type: string, supported: string): Error {
  return refuse.InvalidApiVersionParameter({ version: version.slice(0, 60), type, supported })
}

function notInstalled(registry: Registry, namespace: string): Error {
  return unknownNamespace(namespace, registry.words.namespace, (one) => registry.hasNamespace(one))
}

function unknownType(
  registry: Registry,
  namespace: string | undefined,
  types: readonly string[],
  version: string,
): Error {
  if (namespace === undefined) {
    return refuse.NotFound({ path: `/${types.map((type) => `${type}/…`).join('/')}` })
  }
  if (!registry.hasNamespace(namespace)) return notInstalled(registry, namespace)
  return refuse.InvalidResourceType({
    namespace,
    type: types.join('/'),
    version: version.slice(0, 60),
  })
}
