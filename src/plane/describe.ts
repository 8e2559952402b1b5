/**
 * The table as data: every route, for OpenAPI, for `GET /providers/{ns}/operations`, and for tests that visit all
 * routes.
 */

import { qualify } from '#kernel/vendor.ts'
import { type CompiledType, isLongRunning, isStored } from './compiled-type.ts'
import type { Action } from './declare/action.ts'
import type { StoredVerb, WriteAnswer } from './declare/stored.ts'
import type { Version } from './declare/wire.ts'
import type { Method, RouteDescription } from './plane.ts'
import type { Registry } from './registry.ts'

const verbs: readonly {
  readonly verb: StoredVerb
  readonly method: Method
  readonly needs: string
  readonly says: string
}[] = [
  { verb: 'list', method: 'GET', needs: 'read', says: 'List' },
  { verb: 'get', method: 'GET', needs: 'read', says: 'Get' },
  { verb: 'put', method: 'PUT', needs: 'write', says: 'Create or update' },
  { verb: 'patch', method: 'PATCH', needs: 'write', says: 'Update' },
  { verb: 'delete', method: 'DELETE', needs: 'delete', says: 'Delete' },
]

export function describe({
  types,
}: {
  readonly types: readonly CompiledType[]
}): readonly RouteDescription[] {
  const byKey = new Map(types.map((type) => [type.key, type]))
  return types.flatMap((type) => {
    const names = namesOf(type, byKey)
    return routesOf(type).map((route) => ({ ...route, names }))
  })
}

function routesOf(type: CompiledType): readonly RouteDescription[] {
  return [
    ...verbs.filter(({ verb }) => type.verbs.has(verb)).flatMap((one) => ofVerb(type, one)),
    ...Object.entries(type.actions).map(([name, action]) =>
      ofAction(
        type,
        { name, action },
        { path: `${itemPath(type)}/${name}`, permission: `${type.permission}/${name}` },
      ),
    ),
    ...Object.values(type.collectionActions).map((action) =>
      ofAction(
        type,
        { name: type.words.at(-1) ?? '', action },
        { path: collectionPath(type), permission: type.permission },
      ),
    ),
  ]
}

/** The patterns of the variables in a type's paths: those of its own names, and of all above it. */
function namesOf(
  type: CompiledType,
  byKey: ReadonlyMap<string, CompiledType>,
): Readonly<Record<string, string>> {
  const above = [...byKey.values()].filter(({ declaration }) => declaration.scope === 'implied')
  const within = type.words.map((_word, at) => {
    const inner = type.words.slice(0, at + 1).join('/')
    return byKey.get(`${type.namespace}/${inner}`.toLowerCase())
  })
  const patterns = [...above, ...within].flatMap((one) => {
    const pattern = one?.stored?.name.pattern
    // A pattern in a document has no flags.
    if (one === undefined || pattern === undefined || pattern.flags.includes('i')) return []
    return [[parameter(one, one.words.at(-1) ?? ''), pattern.source] as const]
  })
  return Object.fromEntries(patterns)
}

/** Whatever roles may list: the actions of all routes, and the data actions that uses of data ask for. */
export interface ActionDescription
  extends Pick<RouteDescription, 'namespace' | 'type' | 'action' | 'summary'> {
  readonly isDataAction: boolean
}

export function describeActions({
  types,
  providers,
  words,
}: Pick<Registry, 'types' | 'providers' | 'words'>): readonly ActionDescription[] {
  const ofRoutes = describe({ types }).filter(({ action }) => action !== '')
  const onData = providers.flatMap((provider) =>
    Object.entries(provider.dataActions ?? {}).map(([name, summary]) => {
      const action = qualify(words, name)
      // `…/secrets/getValue/action` and `…/blobs/read`.
      const type = action
        .split('/')
        .slice(0, action.endsWith('/action') ? -2 : -1)
        .join('/')
      const namespace = qualify(words, provider.namespace)
      return { namespace, type, action, summary, isDataAction: true }
    }),
  )
  return [...ofRoutes.map((route) => ({ ...route, isDataAction: false })), ...onData]
}

function base(
  type: CompiledType,
): Pick<
  RouteDescription,
  'namespace' | 'type' | 'versions' | 'compatibleVersions' | 'errorFamily' | 'isComputed'
> {
  return {
    namespace: type.namespace,
    type: type.fullType,
    versions: type.dates === 'any' ? [] : type.dates,
    compatibleVersions: type.compatible,
    errorFamily: type.errorFamily,
    ...(isStored(type) ? {} : { isComputed: true as const }),
  }
}

function ofVerb(
  type: CompiledType,
  { verb, method, needs, says }: (typeof verbs)[number],
): readonly RouteDescription[] {
  const noun = type.words.at(-1) ?? ''
  const one = verb === 'list' ? noun : singular(noun)
  const shape = (version: string): Version<unknown> | undefined => type.versions.get(version)
  const versions =
    type.dates === 'any'
      ? []
      : type.dates.filter((date) => verb !== 'patch' || shape(date)?.patch !== 'none')
  return [
    {
      ...base(type),
      versions,
      method,
      path: verb === 'list' ? collectionPath(type) : itemPath(type),
      action: verb === 'list' && type.isOpenList ? '' : `${type.permission}/${needs}`,
      summary: `${says} ${spaced(one)}`,
      operationName: `${type.words.map(capital).join('')}_${says.replace(/ (.)/g, (_, letter: string) => letter.toUpperCase())}`,
      ...(verb === 'put' || verb === 'patch'
        ? {
            body: (version: string) => bodyOf(shape(version), verb) ?? type.source?.[verb]?.body,
          }
        : {}),
      answer: (version: string) => shape(version)?.answer ?? type.answer,
      longRunning: isLongRunning(type) && needs !== 'read',
      hasEtag: isStored(type) && (verb === 'get' || verb === 'put' || verb === 'patch'),
      ...acceptedOf(type, verb),
      ...queryOf(type, verb),
      ...envelopeOf(type),
    },
  ]
}

function acceptedOf(
  { stored }: CompiledType,
  verb: StoredVerb,
): Pick<RouteDescription, 'accepted'> {
  const { created, changed, deleted } = stored?.protocol?.answers ?? {}
  const byVerb: Partial<Record<StoredVerb, readonly (WriteAnswer | undefined)[]>> = {
    put: [created, changed],
    patch: [changed],
    delete: [deleted],
  }
  const found = byVerb[verb]?.find((one) => one?.status === 202)
  if (found === undefined) return {}
  return { accepted: typeof found.body === 'object' ? 'operation' : (found.body ?? 'resource') }
}

function queryOf(
  { declaration: { query } }: CompiledType,
  verb: StoredVerb,
): Pick<RouteDescription, 'query'> {
  if (verb === 'list') return { query: ['$top', '$skipToken', ...(query?.list ?? [])] }
  const named = verb === 'get' || verb === 'delete' ? query?.[verb] : undefined
  return named === undefined ? {} : { query: named }
}

function envelopeOf({ stored, declaration }: CompiledType): Pick<RouteDescription, 'envelope'> {
  if ('bare' in declaration) return {}
  if (stored === undefined || stored.envelope !== undefined) return { envelope: 'loose' }
  return { envelope: stored.tracked === undefined ? 'plain' : 'tracked' }
}

function bodyOf(
  version: Version<unknown> | undefined,
  verb: 'put' | 'patch',
): Version<unknown>['body'] | undefined {
  if (version === undefined) return undefined
  if (verb === 'put') return version.body
  return typeof version.patch === 'object' ? version.patch.body : undefined
}

function ofAction(
  type: CompiledType,
  { name, action }: { readonly name: string; readonly action: Action<unknown> },
  { path, permission }: { readonly path: string; readonly permission: string },
): RouteDescription {
  const needs =
    action.permission === undefined
      ? `${permission}/${action.method === 'GET' ? 'read' : 'action'}`
      : `${type.permission}/${action.permission}`
  const { body, answer } = action
  return {
    ...base(type),
    method: action.method,
    path,
    action: needs,
    summary: action.description,
    operationName: `${type.words.map(capital).join('')}_${capital(name)}`,
    ...(body === undefined ? {} : { body: () => body }),
    ...(answer === undefined ? {} : { answer: () => answer }),
    longRunning: action.writes === true && isLongRunning(type),
    hasEtag: action.writes === true && isStored(type),
    ...(action.always200 === true || answer !== undefined ? { always200: true } : {}),
    ...(action.statuses === undefined ? {} : { statuses: action.statuses }),
    ...(action.acceptedShows === true ? { acceptedShows: true } : {}),
    ...(action.query === undefined ? {} : { query: action.query }),
  }
}

function collectionPath(type: CompiledType): string {
  const words = type.words
  return `${prefix(type)}${nested(type, words.slice(0, -1))}/${words.at(-1)}`
}

function itemPath(type: CompiledType): string {
  return `${prefix(type)}${nested(type, type.words)}`
}

function prefix(type: CompiledType): string {
  const providers = `/providers/${type.namespace}`
  switch (type.declaration.scope) {
    case 'implied':
      return ''
    case 'tenant':
      return providers
    case 'subscription':
      return `/subscriptions/{subscriptionId}${providers}`
    case 'resource-group':
      return `/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}${providers}`
    case 'any':
      return `/{scope}${providers}`
    default:
      return type.declaration.scope satisfies never
  }
}

function nested(type: CompiledType, words: readonly string[]): string {
  return words.map((word) => `/${word}/{${parameter(type, word)}}`).join('')
}

function parameter(type: CompiledType, word: string): string {
  if (type.declaration.scope === 'implied' && word === 'subscriptions') return 'subscriptionId'
  return `${singular(word)}Name`
}

function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(?:x|ss|sh|[nrt]ch)es$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function spaced(word: string): string {
  return word.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
