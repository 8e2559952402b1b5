/** The endpoints of well-known identity providers, and the parameters that a grant needs. Pure. */

import type { Problem } from '#kernel/error.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import type { AuthorizationProvider } from '../../resources/authorization-providers/model.ts'
import type { GrantType, Texts } from './model.ts'

export interface Endpoints {
  readonly authorization: string
  readonly token: string
  readonly refresh: string
  /** Additional parameters of the authorization request, so that it returns a refresh token. */
  readonly extra: Texts
}

const fixed: Readonly<Record<string, Omit<Endpoints, 'refresh'>>> = {
  google: {
    authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
    token: 'https://oauth2.googleapis.com/token',
    extra: { access_type: 'offline', prompt: 'consent' },
  },
  github: {
    authorization: 'https://github.com/login/oauth/authorize',
    token: 'https://github.com/login/oauth/access_token',
    extra: {},
  },
}

const parameterNames = [
  'authorizationUrl',
  'clientId',
  'clientSecret',
  'loginUri',
  'refreshUrl',
  'resourceUri',
  'scopes',
  'tenantId',
  'tokenUrl',
]

/** Parameters with known names in our spelling: published clients write `ResourceUri`. */
export function parametersOf(given: Texts): Texts {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      parameterNames.find((known) => known.toLowerCase() === name.toLowerCase()) ?? name,
      value,
    ]),
  )
}

/** The parameters of a provider, with the defaults of its kind. */
export function withDefaults(kind: string, given: Texts, publicUrl: string): Texts {
  return kind.toLowerCase() === 'aad'
    ? { loginUri: publicUrl, tenantId: 'common', ...given }
    : given
}

export function endpointsOf({
  identityProvider,
  parameters,
}: Pick<AuthorizationProvider, 'identityProvider' | 'parameters'>): Endpoints {
  const kind = identityProvider.toLowerCase()
  const known = Object.hasOwn(fixed, kind) ? fixed[kind] : undefined
  if (known !== undefined) return { ...known, refresh: known.token }
  if (kind === 'aad') {
    const base = `${withoutTrailing(parameters['loginUri'] ?? '', '/')}/${encodeURIComponent(parameters['tenantId'] ?? 'common')}/oauth2/v2.0`
    const token = `${base}/token`
    return { authorization: `${base}/authorize`, token, refresh: token, extra: {} }
  }
  const token = parameters['tokenUrl'] ?? ''
  const refresh = parameters['refreshUrl'] ?? token
  return { authorization: parameters['authorizationUrl'] ?? '', token, refresh, extra: {} }
}

/** Where this provider's secrets are sent, and as whom. A different text means a different receiver. */
export function receiverOf(provider: AuthorizationProvider): string {
  const { token, refresh } = endpointsOf(provider)
  return JSON.stringify([token, refresh, provider.parameters['clientId']])
}

/** The requested scope: the given scopes, and for some kinds the resource. */
export function scopeOf({
  identityProvider,
  parameters,
}: Pick<AuthorizationProvider, 'identityProvider' | 'parameters'>): string | undefined {
  const scopes = parameters['scopes']?.replaceAll(',', ' ').trim()
  if (scopes !== undefined && scopes !== '') return scopes
  const resource = parameters['resourceUri']
  return identityProvider.toLowerCase() === 'aad' && resource !== undefined
    ? `${withoutTrailing(resource, '/')}/.default offline_access`
    : undefined
}

/** What is missing or wrong in the parameters of a grant. */
export function grantProblems(
  kind: string,
  grant: GrantType,
  given: Texts,
  path: string,
): readonly Problem[] {
  const problems: Problem[] = []
  if ((given['clientId'] ?? '') === '') {
    problems.push({ path: `${path}.clientId`, message: 'is required' })
  }
  const known = ['aad', ...Object.keys(fixed)].includes(kind.toLowerCase())
  const needed = grant === 'AuthorizationCode' ? ['authorizationUrl', 'tokenUrl'] : ['tokenUrl']
  for (const name of known ? [] : needed) {
    if (given[name] === undefined)
      problems.push({ path: `${path}.${name}`, message: 'is required' })
  }
  for (const name of ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'loginUri']) {
    const value = given[name]
    if (value !== undefined && !isWebAddress(value)) {
      const message = 'must be an http or https address without a name, password or fragment'
      problems.push({ path: `${path}.${name}`, message })
    }
  }
  return problems
}

export function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  return (
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.hash === ''
  )
}
