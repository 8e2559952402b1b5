/**
 * Authorizations: connections to an identity provider, with login links, consent that is confirmed (contract,
 * operation 2), and the token for those whom an access policy names.
 */

import Type, { type Static } from 'typebox'
import { type ApiError, refuse } from '#kernel/error.ts'
import { formatEtag } from '#kernel/etag.ts'
import type { Principal } from '#kernel/principal.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import {
  type Action,
  type ActionContext,
  type Context,
  defineResource,
  type Reader,
  type Resource,
  type ResourceType,
} from '#plane/define.ts'
import { refuseFields } from '../errors.ts'
import { countedList } from '../list.ts'
import { idRule } from '../names.ts'
import { refuseConsent } from './errors.ts'
import { linkMilliseconds, loginsMax, newLink } from './flow.ts'
import type { Guesses } from './guesses.ts'
import {
  type AccessPolicy,
  type Authorization,
  type AuthorizationProvider,
  type GrantType,
  type Login,
  types,
  unauthenticated,
} from './model.ts'
import { type ConsentParts, hashOf, isAllowedRedirect, sameHash } from './parts.ts'
import { byCredentials, isDue, type Obtained, openTokens, refresh } from './tokens.ts'
import { authorizationDates } from './versions.ts'

type Stored = Resource<Authorization>

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
type Body = Static<typeof body>

interface Prepared extends Body {
  readonly grant: GrantType
  /** Of client credentials, which connect at once. */
  readonly obtained?: Obtained
}

/** Facts 3.1, limits. */
const authorizationsMax = 10_000
const policiesMax = 100

export function authorizations(parts: ConsentParts, guesses: Guesses): ResourceType {
  return defineResource<Authorization>({
    type: types.authorizations,
    description: 'Connections to an identity provider, and the consent given to each.',
    scope: 'resource-group',
    tracked: false,
    name: idRule(256),
    versions: authorizationDates.map((date) => ({
      date,
      body,
      answer: body,
      unknownProperties: 'ignore' as const,
      patch: 'none' as const,
      toModel,
      fromModel: (model) => ({ properties: shown(model) }),
    })),
    verbs: ['get', 'list', 'put', 'delete'],
    headStatus: 200,
    ifMatchRequired: ['put', 'delete'],
    notFound: (id) => badName(id) ?? refuse.ResourceNotFound({ id: id.text }),
    prepare: (context, given: Body) => prepare(parts, context, given),
    async rules({ id, previous, reader }) {
      if (previous !== undefined) return []
      const under = id.key.slice(0, id.key.lastIndexOf('/authorizations/'))
      const query = { type: types.authorizations, under, limit: authorizationsMax }
      if ((await reader.count(query)) < authorizationsMax) return []
      throw refuseFields([
        { path: 'name', message: `a provider has at most ${authorizationsMax} authorizations` },
      ])
    },
    list: countedList<Authorization>(types.authorizations, {
      name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
      authorizationType: { type: 'string', read: ({ model }) => model.authorizationType },
      oauth2grantType: { type: 'string', read: ({ model }) => model.grantType },
      status: { type: 'string', read: ({ model }) => model.status },
    }),
    actions: {
      getLoginLinks: getLoginLinks(parts),
      confirmConsentCode: confirmConsentCode(guesses),
      getToken: getToken(parts),
    },
    sample: {
      name: (seed) => `connection-${seed}`,
      body: () => sampleBody({}),
      changed: () => sampleBody({ a: 'b' }),
    },
  })
}

/** The patterns and lengths of the contract, also where nothing can be at such a path. */
function badName(id: ResourceId): ApiError | undefined {
  const [service = '', ...below] = id.segments.at(-1)?.names ?? []
  const problems = [
    ...(servicePattern.test(service) ? [] : [{ path: 'serviceName', message: serviceRule }]),
    ...below.flatMap((name, at) =>
      below256.test(name)
        ? []
        : [
            {
              path: ['authorizationProviderId', 'authorizationId'][at] ?? 'name',
              message: 'must be 1 to 256 characters, none of * # & + : < > ?',
            },
          ],
    ),
  ]
  return problems.length === 0 ? undefined : refuseFields(problems)
}

const below256 = /^[^*#&+:<>?]{1,256}$/
const servicePattern = /^[a-zA-Z](?:[a-zA-Z0-9-]{0,48}[a-zA-Z0-9])?$/
const serviceRule = 'must be 1 to 50 letters, digits and hyphens, a letter first and no hyphen last'

function sampleBody(parameters: object): object {
  return {
    properties: {
      authorizationType: 'OAuth2',
      oauth2grantType: 'AuthorizationCode',
      parameters,
    },
  }
}

/** Asked ahead of the write: which grant the provider has, and of credentials, a token at once. */
async function prepare(
  parts: ConsentParts,
  { id, reader }: Context & { readonly id: ResourceId },
  given: Body,
): Promise<Prepared> {
  const above = await reader.get(parentOf(id))
  const asked = given.properties.oauth2grantType
  // Without a provider the write is refused for that.
  if (above === undefined) return { ...given, grant: asked ?? 'AuthorizationCode' }
  const provider = above.model as AuthorizationProvider
  const grant = asked ?? provider.grantType
  if (grant !== provider.grantType) {
    throw refuseFields([
      {
        path: 'properties.oauth2grantType',
        message: `must be ${provider.grantType}, the grant of the authorization provider`,
      },
    ])
  }
  if (grant === 'AuthorizationCode') return { ...given, grant }
  return { ...given, grant, obtained: await byCredentials(parts, id.key, provider) }
}

function toModel(given: Prepared, previous: Authorization | undefined): Authorization {
  const { grant, obtained } = given
  const { status, error, ...before } = previous ?? {
    status: 'Error' as const,
    error: unauthenticated,
    logins: [],
  }
  const asked = {
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

function getLoginLinks(parts: ConsentParts): Action<Authorization> {
  return {
    method: 'POST',
    description: 'A link that leads a person to the identity provider and back',
    body: Type.Object({ postLoginRedirectUrl: Type.Optional(Type.String({ maxLength: 2048 })) }),
    answer: Type.Object({ loginLink: Type.String() }),
    writes: true,
    async run({ resource, id, now }, given: { readonly postLoginRedirectUrl?: string }) {
      if (resource === undefined) throw refuse.ResourceNotFound({ id: id.text })
      const { model } = resource
      if (model.grantType !== 'AuthorizationCode') {
        throw refuseConsent.LoginLinkUnsupported({ grant: model.grantType })
      }
      const { postLoginRedirectUrl } = given
      const path = 'postLoginRedirectUrl'
      if (postLoginRedirectUrl === undefined || postLoginRedirectUrl === '') {
        throw refuseFields([{ path, message: 'is required' }])
      }
      if (!isAllowedRedirect(postLoginRedirectUrl, parts)) {
        const message =
          'must be an address of this installation, of this machine, or one that the operator allows (setting consentRedirects)'
        throw refuseFields([{ path, message }])
      }
      const login: Login = {
        id: parts.ids.secret(12),
        postLoginRedirectUrl,
        expiresAt: now + linkMilliseconds,
      }
      const logins = [...model.logins.filter((one) => isKept(one, now)), login].slice(-loginsMax)
      const loginLink = `${parts.publicUrl()}/consent/login/${newLink(parts.seal, id.key, login)}`
      return { status: 200, body: { loginLink }, model: { ...model, logins } }
    },
  }
}

/** A day long, a code that was used or is too late can be told from one that never was. */
function isKept({ expiresAt, returned }: Login, now: number): boolean {
  return expiresAt > now || (returned !== undefined && returned.codeExpiresAt + 86_400_000 > now)
}

function confirmConsentCode(guesses: Guesses): Action<Authorization> {
  return {
    method: 'POST',
    description: 'Confirm the code of a consent, so that the anti-phishing page is suppressed',
    body: Type.Object({ consentCode: Type.Optional(Type.String({ maxLength: 4096 })) }),
    writes: true,
    async run({ resource, id, now }, given: { readonly consentCode?: string }) {
      if (resource === undefined) throw refuse.ResourceNotFound({ id: id.text })
      const { consentCode } = given
      if (consentCode === undefined || consentCode === '') {
        throw refuseFields([{ path: 'consentCode', message: 'is required' }])
      }
      const seconds = guesses.waitSeconds(id.key, now)
      if (seconds > 0) {
        throw refuse.TooManyRequests(
          { kind: 'wrong consent codes', seconds },
          { headers: { 'Retry-After': String(seconds) } },
        )
      }
      const { model } = resource
      const hash = hashOf(consentCode)
      // Every one is looked at, so the time tells nothing of which it was.
      const [login] = model.logins.filter((one) => sameHash(one.returned?.codeHash ?? '', hash))
      const returned = login?.returned
      if (login === undefined || returned === undefined) {
        guesses.note(id.key, now)
        throw refuseConsent.ConsentCodeInvalid({}, { target: 'consentCode' })
      }
      if (returned.usedAt !== undefined) {
        throw refuseConsent.ConsentCodeUsed({}, { target: 'consentCode' })
      }
      const { tokens, ...rest } = returned
      if (returned.codeExpiresAt <= now || tokens === undefined) {
        throw refuseConsent.ConsentCodeExpired({}, { target: 'consentCode' })
      }
      const used: Login = { ...login, returned: { ...rest, usedAt: now } }
      const { error: _over, refreshingUntil: _none, ...kept } = model
      return {
        status: 200,
        model: {
          ...kept,
          status: 'Connected',
          confirmedAt: now,
          tokens,
          logins: model.logins.map((one) => (one.id === used.id ? used : one)),
        },
      }
    },
  }
}

/** Ours: the published service gives tokens to its gateway alone. */
function getToken(parts: ConsentParts): Action<Authorization> {
  return {
    method: 'POST',
    description: 'The token of a connection, for those whom an access policy names',
    answer: Type.Object({
      accessToken: Type.String(),
      tokenType: Type.String(),
      expiresOn: Type.String(),
    }),
    open: true,
    unstored: true,
    countsAsRead: true,
    revealsSecret: true,
    async run(context) {
      const { resource, id, principal, now, reader } = context
      // Asked first, also where nothing is: a caller whom no policy names learns of no authorization.
      await requirePolicy(parts, context)
      if (resource === undefined) throw refuse.ResourceNotFound({ id: id.text })
      if (isDue(resource.model, now)) await refresh(parts, id.key)
      const model = ((await reader.get(id)) ?? resource).model as Authorization
      const { tokens } = model
      if (tokens === undefined || tokens.expiresAt <= now) {
        const reason = model.error?.message ?? 'it has expired and cannot be refreshed.'
        throw refuseConsent.AuthorizationNotConnected({ reason })
      }
      parts.log.info({ authorization: id.key, principal: principal.id }, 'a token was handed out')
      const { accessToken, tokenType } = openTokens(parts.seal, id.key, tokens)
      return {
        status: 200,
        body: { accessToken, tokenType, expiresOn: new Date(tokens.expiresAt).toISOString() },
        headers: { ETag: formatEtag(resource.etag), 'Cache-Control': 'no-store' },
      }
    },
  }
}

/** The owner of the subscription included: no role gives a token, only a policy. */
async function requirePolicy(
  parts: ConsentParts,
  { reader, id, principal, words }: ActionContext<Authorization>,
): Promise<void> {
  const policies = await policiesOf(reader, id)
  const groups = new Set(
    policies.length === 0
      ? []
      : [...principal.groups, ...(await parts.directory.groupsOf(principal.id))],
  )
  if (policies.some((policy) => isNamed(policy, principal, groups))) return
  throw refuse.AuthorizationFailed({
    client: principal.displayName,
    principalId: principal.id,
    action: `${words.namespace}.${types.authorizations}/getToken/action`,
    scope: id.text,
  })
}

async function policiesOf(reader: Reader, id: ResourceId): Promise<readonly AccessPolicy[]> {
  const rows = await reader.list({ type: types.policies, under: id, limit: policiesMax })
  // Rows of this type were made by its `toModel`.
  return rows.map((row) => row.model as AccessPolicy)
}

function isNamed(
  { tenantId, objectId, appIds }: AccessPolicy,
  principal: Principal,
  groups: ReadonlySet<string>,
): boolean {
  const named = objectId.toLowerCase()
  return (
    tenantId.toLowerCase() === principal.tenantId.toLowerCase() &&
    (named === principal.id || groups.has(named)) &&
    (appIds.length === 0 || appIds.includes(principal.clientId))
  )
}
