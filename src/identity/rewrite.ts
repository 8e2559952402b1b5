/**
 * Translates what known clients send into what the OAuth library understands: the addresses under every authority,
 * `resource=` with or without a slash, `<audience>/.default`, `grant_type=device_code`, and the bare implicit flow
 * that the library no longer has. Pure: a request in, a request out.
 */

import { withoutTrailing } from '#kernel/trailing.ts'
import { deviceGrant } from './clients.ts'
import { parseObjectId } from './principal-rules.ts'

/** The response mode of the bare implicit flow, which provider.ts registers with the library. */
export const bareImplicitMode = 'armature_fragment'

/** The only scope of the resource manager (contract, Authentication). */
export const resourceScope = 'user_impersonation'
/** The scopes that say who somebody is, and for how long. */
export const personScopes = ['openid', 'profile', 'offline_access']

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
/** The path that clients of a machine's metadata service append to the address they are given. */
const metadataPath = '/metadata/identity/oauth2/token'
export const signedInPath = '/signed-in'
/** The path of instance discovery: which hosts are one authority. */
export const instancePath = '/common/discovery/instance'
/** The path of user realm discovery: how a user signs in. */
export const userRealmPath = '/common/userrealm'

/** Words that clients use instead of a tenant id. Here all of them mean the one tenant. */
const authorities = ['common', 'organizations', 'consumers', 'adfs']

/** All paths this area serves, as patterns of the edge's router. */
export const oauthPaths: readonly string[] = [
  ...authorities.map((authority) => `/${authority}/*`),
  // The list names paths instead of everything below a tenant: a resource path that lost its first segment also
  // begins with an id.
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

/** The canonical path for any spelling of it; `undefined` for a path of another area. */
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

/** The tenant in a path that this area would serve if the tenant existed. */
export function foreignTenant(path: string, tenantId: string): string | undefined {
  const tenant = path.split('/')[1] ?? ''
  const known = canonicalPath(path, tenantId) !== undefined
  return known || canonicalPath(path, tenant.toLowerCase()) === undefined ? undefined : tenant
}

/** The secret in the address, sent by a client that sends no headers. */
export function localTokenSecretIn(path: string): string | undefined {
  const secret = localTokenRoute.exec(path)?.[1]
  return secret === '' ? undefined : secret
}

export interface RewriteOptions {
  /** The audience of tokens. */
  readonly audience: string
  /** Other spellings of the audience that clients may use. */
  readonly aliases: readonly string[]
  readonly nonce: () => string
}

/**
 * Rewrites the client's id, and the parameters of a request to authorize, token or devicecode, for the library. What is not understood
 * stays as it came, and the library refuses it.
 */
export function rewriteParameters(
  path: string,
  given: URLSearchParams,
  options: RewriteOptions,
): URLSearchParams {
  const names: readonly string[] = [routes.authorization, routes.token, routes.device_authorization]
  // In the directory's spelling: what an application holds is found by it, and ends with the application.
  const [client = '', ...others] = given.getAll('client_id')
  const clientId = others.length === 0 ? parseObjectId(client) : undefined
  const isSpelled = clientId === undefined || clientId === client
  if (isSpelled && !names.includes(path)) return given
  const result = new URLSearchParams(given)
  if (!isSpelled) result.set('client_id', clientId)
  if (!names.includes(path)) return result
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
    // The scope of a refresh token was settled when it was issued; naming it again has no effect.
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

/** Redeeming a code, a device code or a refresh token gives the scopes of the first request. */
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

/** Translates one scope. */
export function rewriteScope(
  scope: string,
  options: Pick<RewriteOptions, 'audience' | 'aliases'>,
): string {
  if (scope === '.default') return resourceScope
  const slash = scope.lastIndexOf('/')
  if (slash < 0) return scope
  const name = scope.slice(slash + 1)
  if (name !== '.default' && name !== resourceScope) return scope
  // Clients append to an audience that may end in a slash, so two slashes can occur.
  return matchAudience(scope.slice(0, slash), options) ? resourceScope : scope
}

function matchAudience(
  asked: string,
  { audience, aliases }: Pick<RewriteOptions, 'audience' | 'aliases'>,
): boolean {
  const bare = withoutTrailing(asked, '/')
  return [audience, ...aliases].some((known) => withoutTrailing(known, '/') === bare)
}
