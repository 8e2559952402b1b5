/** Authorization providers: which identity provider is asked, and as whom (facts 3.1). */

import Type, { type Static } from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import { defineResource, type Resource, type ResourceType } from '#plane/define.ts'
import { countedList } from '../list.ts'
import { idRule } from '../names.ts'
import { grantProblems, isWebAddress, receiverOf, withDefaults } from './endpoints.ts'
import {
  type AuthorizationProvider,
  type GrantType,
  sealedFor,
  type Texts,
  types,
} from './model.ts'
import type { ConsentParts } from './parts.ts'
import { authorizationDates } from './versions.ts'

type Stored = Resource<AuthorizationProvider>

const texts = Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 4096 }), {
  maxProperties: 50,
})
const body = Type.Object({
  properties: Type.Object({
    displayName: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
    identityProvider: Type.String({ minLength: 1, maxLength: 100 }),
    oauth2: Type.Object({
      redirectUrl: Type.Optional(Type.String({ maxLength: 2048 })),
      grantTypes: Type.Object({
        authorizationCode: Type.Optional(texts),
        clientCredentials: Type.Optional(texts),
      }),
    }),
  }),
})
type Body = Static<typeof body>

/** A body on its way to the model, with the place that its secret is sealed for. */
interface Prepared extends Body {
  readonly key: string
}

const base = 'properties.oauth2'

function grantOf({ properties }: Body): { grant: GrantType; name: string; given: Texts } {
  const { authorizationCode, clientCredentials } = properties.oauth2.grantTypes
  return authorizationCode === undefined
    ? {
        grant: 'ClientCredentials',
        name: 'clientCredentials',
        given: clientCredentials ?? {},
      }
    : { grant: 'AuthorizationCode', name: 'authorizationCode', given: authorizationCode }
}

function problems(given: Body): readonly Problem[] {
  const { grantTypes, redirectUrl } = given.properties.oauth2
  const count = Object.values(grantTypes).filter((one) => one !== undefined).length
  const found: Problem[] = []
  if (count !== 1) {
    const message = 'must hold exactly one of authorizationCode and clientCredentials'
    found.push({ path: `${base}.grantTypes`, message })
  }
  if (redirectUrl !== undefined && !isWebAddress(redirectUrl)) {
    const message = 'must be an http or https address without a name, password or fragment'
    found.push({ path: `${base}.redirectUrl`, message })
  }
  const { grant, name, given: parameters } = grantOf(given)
  if (count === 1) {
    const path = `${base}.grantTypes.${name}`
    found.push(...grantProblems(given.properties.identityProvider, grant, parameters, path))
  }
  return found
}

export function authorizationProviders(parts: ConsentParts): ResourceType {
  const toModel = (given: Prepared, previous: AuthorizationProvider | undefined) => {
    const { displayName, identityProvider, oauth2 } = given.properties
    const { grant, given: parameters } = grantOf(given)
    const { clientSecret, ...open } = parameters
    const context = sealedFor.secret(given.key)
    const kept = previous?.sealedSecret
    // The same secret stays sealed as it is: writing the same again changes nothing.
    const isSame =
      clientSecret === undefined ||
      (kept !== undefined && parts.seal.open(kept, context) === clientSecret)
    const sealedSecret = isSame ? kept : parts.seal.seal(clientSecret, context)
    return {
      displayName: displayName ?? '',
      identityProvider,
      ...(oauth2.redirectUrl === undefined ? {} : { redirectUrl: oauth2.redirectUrl }),
      grantType: grant,
      parameters: withDefaults(identityProvider, open, parts.publicUrl()),
      ...(sealedSecret === undefined ? {} : { sealedSecret }),
    } satisfies AuthorizationProvider
  }
  return defineResource<AuthorizationProvider>({
    type: types.providers,
    description: 'Which identity provider is asked for tokens, and as which application.',
    scope: 'resource-group',
    tracked: false,
    name: idRule(256),
    versions: authorizationDates.map((date) => ({
      date,
      body,
      answer: body,
      unknownProperties: 'ignore' as const,
      patch: 'none' as const,
      problems,
      toModel,
      fromModel: (model) => ({ properties: shown(model, parts) }),
    })),
    verbs: ['get', 'list', 'put', 'delete'],
    headStatus: 200,
    ifMatchRequired: ['put', 'delete'],
    prepare: async ({ id }: { readonly id: ResourceId }, given: Body): Promise<Prepared> => ({
      ...given,
      key: id.key,
    }),
    secrets: (
      [
        ['AuthorizationCode', 'authorizationCode'],
        ['ClientCredentials', 'clientCredentials'],
      ] as const
    ).map(([grantType, name]) => ({
      property: `${base}.grantTypes.${name}.clientSecret`,
      isAt: (model) => model.grantType === grantType,
      receiver: (model) => (model.sealedSecret === undefined ? undefined : receiverOf(model)),
    })),
    list: countedList<AuthorizationProvider>(types.providers, {
      name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
      displayName: { type: 'string', read: ({ model }) => model.displayName },
      identityProvider: { type: 'string', read: ({ model }) => model.identityProvider },
    }),
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

function shown(
  { displayName, identityProvider, redirectUrl, grantType, parameters }: AuthorizationProvider,
  parts: ConsentParts,
): object {
  const name = grantType === 'AuthorizationCode' ? 'authorizationCode' : 'clientCredentials'
  return {
    displayName,
    identityProvider,
    oauth2: {
      redirectUrl: redirectUrl ?? `${parts.publicUrl()}/consent/callback`,
      grantTypes: { [name]: parameters },
    },
  }
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
