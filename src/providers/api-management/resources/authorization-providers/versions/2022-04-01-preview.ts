/** The wire form of authorization providers: one shape in all versions of authorizations (facts 3.1). */

import Type, { type Static } from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { added } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import type { ConsentDependencies } from '../../../dependencies.ts'
import {
  grantProblems,
  isWebAddress,
  parametersOf,
  withDefaults,
} from '../../../domain/consent/endpoints.ts'
import { type GrantType, sealedFor, type Texts } from '../../../domain/consent/model.ts'
import { showLocation } from '../../../domain/service-location.ts'
import { authorizationDates } from '../../../published-versions.ts'
import type { AuthorizationProvider } from '../model.ts'

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
const answer = Type.Object({ ...body.properties, location: added(Type.String()) })
export type AuthorizationProviderBody = Static<typeof body>

/** A validated body, with the context for sealing its secret. */
export interface PreparedAuthorizationProvider extends AuthorizationProviderBody {
  readonly key: string
  readonly place: { readonly location?: string }
}

const base = 'properties.oauth2'

function grantOf({ properties }: AuthorizationProviderBody): {
  grant: GrantType
  name: string
  given: Texts
} {
  const { authorizationCode, clientCredentials } = properties.oauth2.grantTypes
  return authorizationCode === undefined
    ? {
        grant: 'ClientCredentials',
        name: 'clientCredentials',
        given: parametersOf(clientCredentials ?? {}),
      }
    : {
        grant: 'AuthorizationCode',
        name: 'authorizationCode',
        given: parametersOf(authorizationCode),
      }
}

function problems(given: AuthorizationProviderBody): readonly Problem[] {
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

export function authorizationProviderVersions(
  deps: ConsentDependencies,
): readonly Version<AuthorizationProvider>[] {
  const toModel = (
    given: PreparedAuthorizationProvider,
    previous: AuthorizationProvider | undefined,
  ) => {
    const { displayName, identityProvider, oauth2 } = given.properties
    const { grant, given: parameters } = grantOf(given)
    const { clientSecret, ...open } = parameters
    const context = sealedFor.secret(given.key)
    const kept = previous?.sealedSecret
    // An unchanged secret keeps its sealed text, so that writing it again changes nothing.
    const isSame =
      clientSecret === undefined ||
      (kept !== undefined && deps.seal.open(kept, context) === clientSecret)
    const sealedSecret = isSame ? kept : deps.seal.seal(clientSecret, context)
    return {
      ...given.place,
      displayName: displayName ?? '',
      identityProvider,
      ...(oauth2.redirectUrl === undefined ? {} : { redirectUrl: oauth2.redirectUrl }),
      grantType: grant,
      parameters: withDefaults(identityProvider, open, deps.publicUrl()),
      ...(sealedSecret === undefined ? {} : { sealedSecret }),
    } satisfies AuthorizationProvider
  }
  return authorizationDates.map((date) => ({
    date,
    body,
    answer,
    unknownProperties: 'ignore' as const,
    patch: 'none' as const,
    problems,
    toModel,
    fromModel: (model) => ({ ...showLocation(model), properties: shown(model, deps) }),
  }))
}

function shown(
  { displayName, identityProvider, redirectUrl, grantType, parameters }: AuthorizationProvider,
  deps: ConsentDependencies,
): object {
  const name = grantType === 'AuthorizationCode' ? 'authorizationCode' : 'clientCredentials'
  return {
    displayName,
    identityProvider,
    oauth2: {
      redirectUrl: redirectUrl ?? `${deps.publicUrl()}/consent/callback`,
      grantTypes: { [name]: parameters },
    },
  }
}
