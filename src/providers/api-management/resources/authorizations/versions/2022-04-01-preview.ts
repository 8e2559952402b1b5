/** Authorizations on the wire: one shape in all their versions; the contract names 2024-05-01. */

import Type, { type Static } from 'typebox'
import { added } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import type { GrantType } from '../../../domain/consent/model.ts'
import type { TokenResult } from '../../../domain/consent/tokens.ts'
import { showLocation } from '../../../domain/service-location.ts'
import { authorizationDates } from '../../../published-versions.ts'
import { type Authorization, unauthenticated } from '../model.ts'

const body = Type.Object({
  properties: Type.Object({
    authorizationType: Type.Optional(Type.Enum(['OAuth2'])),
    oauth2grantType: Type.Optional(Type.Enum(['AuthorizationCode', 'ClientCredentials'])),
    parameters: Type.Optional(
      Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 4096 }), {
        maxProperties: 50,
      }),
    ),
  }),
})
const answer = Type.Object({
  properties: Type.Object({
    ...body.properties.properties.properties,
    status: added(Type.Enum(['Connected', 'Error'])),
    error: added(Type.Object({ code: Type.String(), message: Type.String() })),
  }),
  location: added(Type.String()),
})
export type AuthorizationBody = Static<typeof body>

export interface PreparedAuthorization extends AuthorizationBody {
  readonly grant: GrantType
  readonly place: { readonly location?: string }
  /** Tokens obtained during the PUT: client credentials need no consent. */
  readonly obtained?: TokenResult
}

export const authorizationVersions: readonly Version<Authorization>[] = authorizationDates.map(
  (date) => ({
    date,
    body,
    answer,
    unknownProperties: 'ignore' as const,
    patch: 'none' as const,
    toModel,
    fromModel: (model) => ({ ...showLocation(model), properties: shown(model) }),
  }),
)

function toModel(given: PreparedAuthorization, previous: Authorization | undefined): Authorization {
  const { grant, obtained } = given
  const { status, error, ...before } = previous ?? {
    status: 'Error' as const,
    error: unauthenticated,
    logins: [],
  }
  const asked = {
    ...given.place,
    authorizationType: 'OAuth2' as const,
    grantType: grant,
    parameters: given.properties.parameters ?? {},
  }
  if (obtained === undefined) {
    return { ...before, ...asked, status, ...(error === undefined ? {} : { error }) }
  }
  if (obtained.ok) return { ...before, ...asked, status: 'Connected', tokens: obtained.tokens }
  const { code, message } = obtained
  return { ...before, ...asked, status: 'Error', error: { code, message } }
}

function shown({ authorizationType, grantType, parameters, status, error }: Authorization): object {
  return {
    authorizationType,
    oauth2grantType: grantType,
    parameters,
    status,
    ...(error === undefined ? {} : { error }),
  }
}
