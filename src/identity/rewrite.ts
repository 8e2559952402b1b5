/**
 * Turns the dialects of known clients into the one the OAuth library understands: the addresses under every
 * authority, `resource=` with or without a slash, `<audience>/.default`, `grant_type=device_code`, and the
 * bare implicit flow that the library no longer has. Pure: a request in, a request out.
 */

import { deviceGrant } from './clients.ts'

/** The response mode of the bare implicit flow; registered with the library by provider.ts. */
export const bareImplicitMode = 'armature_fragment'

/** The one scope of the resource manager (contract, Authentication). */
export const resourceScope = 'user_impersonation'

export const routes = {
  authorization: '/common/oauth2/authorize',
  token: '/common/oauth2/token',
  device_authorization: '/common/oauth2/devicecode',
  code_verification: '/common/oauth2/deviceauth',
  end_session: '/common/oauth2/logout',
  revocation: '/common/oauth2/revoke',
  jwks: '/common/discovery/keys',
} as const

export const interactionPath = '/common/oauth2/interaction'
export const localTokenPath = '/common/identity/token'
/** What clients that look for the metadata of their machine put behind the address they are given. */
const metadataPath = '/metadata/identity/oauth2/token'
export const signedInPath = '/signed-in'
/** Where clients ask which hosts are one authority. */
export const instancePath = '/common/discovery/instance'
/** Where clients ask how a user signs in. */
export const userRealmPath = '/common/userrealm'

/** Words that clients put in the place of a tenant. Here they all mean the one tenant. */
const authorities = ['common', 'organizations', 'consumers', 'adfs']

/** Everything this area serves, as patterns of the edge's router. */
export const oauthPaths: readonly string[] = [
  ...authorities.map((authority) => `/${authority}/*`),
  // Not all below a tenant: a resource's path that lost its first segment begins with an id, too.
  ...['oauth2', 'discovery', 'userrealm', '.well-known', 'v2.0/.well-known'].map(
    (below) => `/:tenantId(^[0-9a-fA-F-]{36}$)/${below}/*`,
  ),
  metadataPath,
  '/.well-known/*',
  '/v2.0/.well-known/*',
  signedInPath,
]

const endpoints = ['authorize', 'token', 'devicecode', 'deviceauth', 'logout', 'revoke']
const tenantRoute = new RegExp(`^/([^/]+)/oauth2/(?:v2\\.0/)?(${endpoints.join('|')})(/.*)?$`, 'i')
const discoveryRoute =
  /^(?:\/([^/]+))?\/\.well-known\/(openid-configuration|oauth-authorization-server)$/i
const keysRoute = /^\/([^/]+)\/discovery\/(?:v2\.0\/)?keys$/i
const instanceRoute = /^\/([^/]+)\/discovery\/instance$/i
const userRealmRoute = /^\/([^/]+)\/userrealm\/[^/]+\/?$/i
const localTokenRoute = new RegExp(
  `^(?:${metadataPath}/?|${localTokenPath}(?:/([A-Za-z0-9_-]*))?(?:${metadataPath})?/?)$`,
)

/** The canonical path for any spelling of it; `undefined` when the path is none of ours. */
export function canonicalPath(path: string, tenantId: string): string | undefined {
  const ours = (tenant: string | undefined): boolean =>
    tenant === undefined || [...authorities, tenantId].includes(tenant.toLowerCase())
  const route = tenantRoute.exec(path)
  if (route !== null) {
    return ours(route[1])
      ? `/common/oauth2/${(route[2] ?? '').toLowerCase()}${route[3] ?? ''}`
      : undefined
  }
  const discovery = discoveryRoute.exec(path.replace(/\/v2\.0\//i, '/'))
  if (discovery !== null) {
    return ours(discovery[1]) ? `/.well-known/${(discovery[2] ?? '').toLowerCase()}` : undefined
  }
  const keys = keysRoute.exec(path)
  if (keys !== null) return ours(keys[1]) ? routes.jwks : undefined
  const instance = instanceRoute.exec(path)
  if (instance !== null) return ours(instance[1]) ? instancePath : undefined
  const realm = userRealmRoute.exec(path)
  if (realm !== null) return ours(realm[1]) ? userRealmPath : undefined
  if (path.startsWith(`${interactionPath}/`)) return path
  if (localTokenRoute.test(path)) return localTokenPath
  return path === signedInPath ? path : undefined
}

/** The tenant of an address that would be ours if that tenant were. */
export function foreignTenant(path: string, tenantId: string): string | undefined {
  const tenant = path.split('/')[1] ?? ''
  const known = canonicalPath(path, tenantId) !== undefined
  return known || canonicalPath(path, tenant.toLowerCase()) === undefined ? undefined : tenant
}

/** The secret that a client without headers of its own carries in the address. */
export function localTokenSecretIn(path: string): string | undefined {
  const secret = localTokenRoute.exec(path)?.[1]
  return secret === '' ? undefined : secret
}

export interface RewriteOptions {
  /** The audience tokens are for. */
  readonly audience: string
  /** Other spellings of it that clients may ask for. */
  readonly aliases: readonly string[]
  readonly nonce: () => string
}

/**
 * The parameters of a request to authorize, token or devicecode as the library wants them. What is not
 * understood stays as it came, for the library to refuse.
 */
export function rewriteParameters(
  path: string,
  given: URLSearchParams,
  options: RewriteOptions,
): URLSearchParams {
  const names: readonly string[] = [routes.authorization, routes.token, routes.device_authorization]
  if (!names.includes(path)) return given
  const result = new URLSearchParams(given)
  if (given.get('grant_type') === 'device_code') result.set('grant_type', deviceGrant)
  const scopes = rewriteScopes(given.get('scope'), options)
  const resource = given.get('resource')
  if (resource !== null && given.getAll('resource').length === 1) {
    const known = matchAudience(resource, options)
    if (known) result.set('resource', options.audience)
  }
  const asksNothing = given.get('scope') === null && needsScope(path, given)
  if (asksNothing) result.set('scope', resourceScope)
  else if (scopes !== undefined && given.getAll('scope').length === 1) {
    // What a refresh token is good for was settled when it was issued; naming it again means nothing.
    const refreshing = path === routes.token && given.get('grant_type') === 'refresh_token'
    const asked = refreshing ? scopes.filter((s) => s !== 'offline_access') : scopes
    if (asked.length > 0) result.set('scope', asked.join(' '))
    else result.delete('scope')
  }
  if (path === routes.authorization && isBareImplicit(given)) {
    result.set('response_type', 'id_token token')
    result.set('response_mode', bareImplicitMode)
    if (given.get('nonce') === null) result.set('nonce', options.nonce())
    const scope = (result.get('scope') ?? '').split(' ').filter((s) => s !== '')
    result.set('scope', ['openid', ...scope.filter((s) => s !== 'openid')].join(' '))
  }
  return result
}

function isBareImplicit(given: URLSearchParams): boolean {
  const mode = given.get('response_mode')
  return (
    given.getAll('response_type').length === 1 &&
    given.get('response_type') === 'token' &&
    (mode === null || mode === 'fragment')
  )
}

/** Redeeming a code, a device code or a refresh token gives what was asked for at first. */
function needsScope(path: string, given: URLSearchParams): boolean {
  return path !== routes.token || given.get('grant_type') === 'client_credentials'
}

function rewriteScopes(
  scope: string | null,
  options: RewriteOptions,
): readonly string[] | undefined {
  if (scope === null) return undefined
  const known = new Set<string>()
  for (const item of scope.split(' ')) {
    if (item === '') continue
    known.add(rewriteScope(item, options))
  }
  return [...known]
}

/** One scope as the library knows it. */
export function rewriteScope(
  scope: string,
  options: Pick<RewriteOptions, 'audience' | 'aliases'>,
): string {
  if (scope === '.default') return resourceScope
  const slash = scope.lastIndexOf('/')
  if (slash < 0) return scope
  const name = scope.slice(slash + 1)
  if (name !== '.default' && name !== resourceScope) return scope
  // Clients append to an audience that may end in a slash already, hence two of them at times.
  return matchAudience(scope.slice(0, slash), options) ? resourceScope : scope
}

function matchAudience(
  asked: string,
  { audience, aliases }: Pick<RewriteOptions, 'audience' | 'aliases'>,
): boolean {
  const bare = asked.replace(/\/+$/, '')
  return [audience, ...aliases].some((known) => known.replace(/\/+$/, '') === bare)
}
