/**
 * Authorizations: connections to an identity provider, with login links, consent that is confirmed (contract,
 * operation 2), and the token for those whom an access policy names.
 */

import { refuse } from '#kernel/error.ts'
import { nameOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import type { ConsentDependencies } from '../../dependencies.ts'
import type { ConsentCodeThrottle } from '../../domain/consent/consent-code-throttle.ts'
import { types } from '../../domain/consent/model.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { idRule } from '../../domain/names.ts'
import { requireParent } from '../../domain/require-parent.ts'
import { confirmConsentCode, getLoginLinks, getToken } from './actions.ts'
import type { Authorization } from './model.ts'
import { prepareAuthorization } from './prepare.ts'
import { authorizationRules, badName } from './rules.ts'
import { type AuthorizationBody, authorizationVersions } from './versions/2022-04-01-preview.ts'

type Stored = Resource<Authorization>

export function authorizations(
  deps: ConsentDependencies,
  codeThrottle: ConsentCodeThrottle,
): ResourceType {
  return defineStored<Authorization>({
    type: types.authorizations,
    description: 'Connections to an identity provider, and the consent given to each.',
    scope: 'resource-group',
    query: countedQuery,
    name: idRule(256),
    versions: authorizationVersions,
    verbs: ['get', 'list', 'put', 'delete'],
    protocol: {
      headStatus: 200,
      answers: { created: { status: 200 } },
      ifMatchRequired: ['put'],
      anyMatchCreates: true,
    },
    notFound: (id) => badName(id) ?? refuse.ResourceNotFound({ id: id.text }),
    prepare: (context, given: AuthorizationBody) => prepareAuthorization(deps, context, given),
    rules: authorizationRules,
    deleteRules: requireParent,
    list: {
      page: countedList<Authorization>(types.authorizations, {
        name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
        authorizationType: { type: 'string', read: ({ model }) => model.authorizationType },
        oauth2grantType: { type: 'string', read: ({ model }) => model.grantType },
        status: { type: 'string', read: ({ model }) => model.status },
      }),
    },
    actions: {
      getLoginLinks: getLoginLinks(deps),
      confirmConsentCode: confirmConsentCode(codeThrottle),
      getToken: getToken(deps),
    },
    sample: {
      name: (seed) => `connection-${seed}`,
      body: () => sampleBody({}),
      changed: () => sampleBody({ a: 'b' }),
    },
  })
}

function sampleBody(parameters: object): object {
  return {
    properties: {
      authorizationType: 'OAuth2',
      oauth2grantType: 'AuthorizationCode',
      parameters,
    },
  }
}
