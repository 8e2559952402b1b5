/** The dialects as tables. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareImplicitMode, canonicalPath, rewriteParameters, routes } from './rewrite.ts'

const tenant = '11111111-2222-4333-8444-555555555555'
const options = {
  audience: 'https://rm.example',
  aliases: ['https://public.example/'],
  nonce: () => 'fresh',
}

const paths: readonly (readonly [string, string | undefined])[] = [
  ['/common/oauth2/authorize', routes.authorization],
  ['/COMMON/OAuth2/Authorize', routes.authorization],
  ['/common/oauth2/v2.0/authorize', routes.authorization],
  [`/${tenant}/oauth2/v2.0/token`, routes.token],
  [`/${tenant.toUpperCase()}/oauth2/token`, routes.token],
  ['/organizations/oauth2/v2.0/devicecode', routes.device_authorization],
  ['/common/oauth2/authorize/uid-1', `${routes.authorization}/uid-1`],
  ['/common/oauth2/interaction/uid-1', '/common/oauth2/interaction/uid-1'],
  ['/common/.well-known/openid-configuration', '/.well-known/openid-configuration'],
  ['/.well-known/openid-configuration', '/.well-known/openid-configuration'],
  [`/${tenant}/v2.0/.well-known/openid-configuration`, '/.well-known/openid-configuration'],
  ['/common/discovery/v2.0/keys', routes.jwks],
  ['/adfs/.well-known/openid-configuration', '/.well-known/openid-configuration'],
  ['/v2.0/.well-known/openid-configuration', '/.well-known/openid-configuration'],
  ['/consumers/v2.0/.well-known/openid-configuration', '/.well-known/openid-configuration'],
  ['/adfs/oauth2/token', routes.token],
  ['/organizations/discovery/v2.0/keys', routes.jwks],
  ['/common/discovery/instance', '/common/discovery/instance'],
  ['/common/userrealm/ada@example.org', '/common/userrealm'],
  [`/${tenant}/UserRealm/ada%40example.org`, '/common/userrealm'],
  ['/common/userrealm/a/b', undefined],
  ['/common/identity/token', '/common/identity/token'],
  ['/common/identity/token/', '/common/identity/token'],
  ['/common/identity/token/abc_-1', '/common/identity/token'],
  ['/common/identity/token/a/b', undefined],
  ['/signed-in', '/signed-in'],
  ['/22222222-2222-4333-8444-555555555555/oauth2/token', undefined],
  ['/common/oauth2/other', undefined],
  ['/common/oauth2', undefined],
  ['/subscriptions/common/oauth2/token', undefined],
  ['/', undefined],
]
for (const [path, expected] of paths) {
  test(`path ${path}`, () => assert.equal(canonicalPath(path, tenant), expected))
}

const parameters: readonly (readonly [string, string, string, string])[] = [
  [
    'nothing asked is the one scope',
    routes.authorization,
    'response_type=code',
    'response_type=code&scope=user_impersonation',
  ],
  [
    'audience and default',
    routes.authorization,
    'scope=https://rm.example/.default openid',
    'scope=user_impersonation openid',
  ],
  [
    'audience with two slashes',
    routes.token,
    'grant_type=client_credentials&scope=https://rm.example//.default',
    'grant_type=client_credentials&scope=user_impersonation',
  ],
  [
    'an alias of the audience',
    routes.token,
    'scope=https://public.example/user_impersonation',
    'scope=user_impersonation',
  ],
  [
    'a stranger’s scope stays',
    routes.token,
    'scope=https://x.example/.default',
    'scope=https://x.example/.default',
  ],
  [
    'a resource with a slash',
    routes.authorization,
    'scope=a&resource=https://rm.example/',
    'scope=a&resource=https://rm.example',
  ],
  [
    'a stranger’s resource stays',
    routes.authorization,
    'scope=a&resource=https://x/',
    'scope=a&resource=https://x/',
  ],
  [
    'redeeming asks nothing new',
    routes.token,
    'grant_type=authorization_code&code=x',
    'grant_type=authorization_code&code=x',
  ],
  [
    'refreshing',
    routes.token,
    'grant_type=refresh_token&scope=offline_access .default',
    'grant_type=refresh_token&scope=user_impersonation',
  ],
  [
    'refreshing with that alone',
    routes.token,
    'grant_type=refresh_token&scope=offline_access',
    'grant_type=refresh_token',
  ],
  [
    'twice the same parameter stays',
    routes.token,
    'scope=.default&scope=.default',
    'scope=.default&scope=.default',
  ],
  [
    'bare implicit',
    routes.authorization,
    'response_type=token&scope=user_impersonation',
    `response_type=id_token token&scope=openid user_impersonation&response_mode=${bareImplicitMode}&nonce=fresh`,
  ],
  [
    'bare implicit keeps a nonce',
    routes.authorization,
    'response_type=token&scope=openid&nonce=n&response_mode=fragment',
    `response_type=id_token token&scope=openid&nonce=n&response_mode=${bareImplicitMode}`,
  ],
  [
    'another mode stays',
    routes.authorization,
    'response_type=token&scope=a&response_mode=form_post',
    'response_type=token&scope=a&response_mode=form_post',
  ],
  [
    'two types stay',
    routes.authorization,
    'response_type=token&response_type=code&scope=a',
    'response_type=token&response_type=code&scope=a',
  ],
  ['other routes stay', routes.revocation, 'scope=.default', 'scope=.default'],
]
for (const [name, path, given, expected] of parameters) {
  test(`parameters: ${name}`, () => {
    const result = rewriteParameters(path, new URLSearchParams(given), options)
    assert.deepEqual([...result], [...new URLSearchParams(expected)])
  })
}
