/** Authorization providers: an identity provider, and the client it is used as (facts 3.1). */

import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context, Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import type { ConsentDependencies } from '../../dependencies.ts'
import { receiverOf } from '../../domain/consent/endpoints.ts'
import { types } from '../../domain/consent/model.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { idRule } from '../../domain/names.ts'
import { serviceLocation } from '../../domain/service-location.ts'
import type { AuthorizationProvider } from './model.ts'
import {
  type AuthorizationProviderBody,
  authorizationProviderVersions,
  type PreparedAuthorizationProvider,
} from './versions/2022-04-01-preview.ts'

type Stored = Resource<AuthorizationProvider>

export function authorizationProviders(deps: ConsentDependencies): ResourceType {
  return defineStored<AuthorizationProvider>({
    type: types.providers,
    description: 'Which identity provider is asked for tokens, and as which application.',
    scope: 'resource-group',
    query: countedQuery,
    name: idRule(256),
    versions: authorizationProviderVersions(deps),
    verbs: ['get', 'list', 'put', 'delete'],
    protocol: {
      headStatus: 200,
      answers: { created: { status: 200 } },
      ifMatchRequired: ['put'],
      anyMatchCreates: true,
    },
    prepare: async (
      { id, reader }: Context & { readonly id: ResourceId },
      given: AuthorizationProviderBody,
    ): Promise<PreparedAuthorizationProvider> => ({
      ...given,
      key: id.key,
      place: await serviceLocation(reader, id, 1),
    }),
    secrets: (
      [
        ['AuthorizationCode', 'authorizationCode'],
        ['ClientCredentials', 'clientCredentials'],
      ] as const
    ).map(([grantType, name]) => ({
      property: `properties.oauth2.grantTypes.${name}.clientSecret`,
      isAt: (model) => model.grantType === grantType,
      receiver: (model) => (model.sealedSecret === undefined ? undefined : receiverOf(model)),
    })),
    list: {
      page: countedList<AuthorizationProvider>(types.providers, {
        name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
        displayName: { type: 'string', read: ({ model }) => model.displayName },
        identityProvider: { type: 'string', read: ({ model }) => model.identityProvider },
      }),
    },
    sample: {
      redirects: [
        ...['tokenUrl', 'refreshUrl'].map((name) => ({
          properties: {
            oauth2: {
              grantTypes: { authorizationCode: { [name]: 'https://elsewhere.example/x' } },
            },
          },
        })),
        { properties: { oauth2: { grantTypes: { authorizationCode: { clientId: 'other' } } } } },
      ],
      name: (seed) => `provider-${seed}`,
      body: () => sampleBody('Example'),
      changed: () => sampleBody('Example, renamed'),
      secrets: ['a secret of the sample'],
    },
  })
}

function sampleBody(displayName: string): object {
  return {
    properties: {
      displayName,
      identityProvider: 'oauth2',
      oauth2: {
        grantTypes: {
          authorizationCode: {
            clientId: 'client',
            clientSecret: 'a secret of the sample',
            scopes: 'read',
            authorizationUrl: 'https://identity.example/authorize',
            tokenUrl: 'https://identity.example/token',
          },
        },
      },
    },
  }
}
