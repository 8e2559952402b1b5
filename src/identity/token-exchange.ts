/**
 * Two grants that the OAuth library does not have. Both give a token for a token: client credentials by an
 * assertion of another issuer, and on behalf of a user whose token the client was called with (`jwt-bearer`).
 */

import { ApiError } from '#kernel/error.ts'
import { groupKey } from '#kernel/resource-id.ts'
import { type AssertionOptions, type CheckAssertion, createAssertionCheck } from './assertions.ts'
import type { Authenticator } from './authenticate.ts'
import type { IdentityDirectory } from './directory.ts'
import { type FederatedOf, groundOf } from './federated-credentials.ts'
import { parseToken } from './jwt.ts'
import type { OAuthRequest } from './oauth-request.ts'
import type { PrincipalRecord } from './principal-record.ts'
import { resourceScope, routes } from './rewrite.ts'
import type { SignInEvent } from './sign-in-events.ts'
import { stepOf } from './token-claims.ts'
import type { Issued, TokenIssuer } from './token-issuer.ts'

interface ExchangeOptions extends AssertionOptions {
  readonly directory: IdentityDirectory
  readonly authenticator: Pick<Authenticator, 'authenticate'>
  readonly tenantId: string
  readonly federatedOf: FederatedOf
  readonly issue: TokenIssuer
}

interface ExchangeAnswer {
  readonly status: number
  readonly body: object
  readonly event: Pick<SignInEvent, 'grant' | 'principalId' | 'clientId' | 'error'>
}

/** Undefined for other kinds of requests. */
export type TokenExchange = (request: OAuthRequest) => Promise<ExchangeAnswer | undefined>

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const bearerGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

type Grant = 'client_credentials' | 'on_behalf_of'

interface Client {
  readonly principal: PrincipalRecord
  readonly credentialId: string | undefined
  /** When its secret ends, in milliseconds since 1970. */
  readonly endsAt?: number
}

interface Refusal {
  readonly status: number
  readonly error: string
  readonly text: string
}

export function createTokenExchange(options: ExchangeOptions): TokenExchange {
  const check = createAssertionCheck(options)
  return async (request) => {
    const { method, path, form } = request
    if (method !== 'POST' || path !== routes.token || form === undefined) return undefined
    const grant = grantIn(form)
    if (grant === undefined) return undefined
    const clientId = form.get('client_id') ?? ''
    const outcome = await exchange(options, check, form, grant)
    if ('error' in outcome) {
      const { status, error, text } = outcome
      const event = { grant, principalId: undefined, clientId, error }
      return { status, body: { error, error_description: text }, event }
    }
    const { principal, issued } = outcome
    const seconds = Math.floor((issued.expiresAt - issued.now) / 1000)
    const isUser = principal.type === 'User'
    return {
      status: 200,
      body: {
        token_type: 'Bearer',
        scope: request.asked.get('scope') ?? resourceScope,
        expires_in: seconds,
        ext_expires_in: seconds,
        access_token: issued.token,
        ...(isUser && request.asked.get('client_info') === '1'
          ? { client_info: clientInfo(principal.id, options.tenantId) }
          : {}),
      },
      event: { grant, principalId: principal.id, clientId, error: undefined },
    }
  }
}

function grantIn(form: URLSearchParams): Grant | undefined {
  const grant = form.get('grant_type')
  if (grant === bearerGrant) return 'on_behalf_of'
  const byAssertion = grant === 'client_credentials' && form.has('client_assertion')
  return byAssertion ? 'client_credentials' : undefined
}

async function exchange(
  options: ExchangeOptions,
  check: CheckAssertion,
  form: URLSearchParams,
  grant: Grant,
): Promise<{ readonly principal: PrincipalRecord; readonly issued: Issued } | Refusal> {
  const scopes = (form.get('scope') ?? resourceScope).split(' ')
  if (!scopes.includes(resourceScope)) {
    return refusal(400, 'invalid_scope', 'Nothing that was asked for is served here.')
  }
  const client = await findClient(options, check, form)
  if ('error' in client) return client
  const clientId = form.get('client_id') ?? ''
  const { principal, credentialId, endsAt = Infinity } = client
  if (grant === 'client_credentials') {
    const issued = await options.issue(principal, { clientId, credentialId, endsAt })
    return { principal, issued }
  }
  return onBehalfOf(options, form, { clientId, step: stepOf(principal, credentialId), endsAt })
}

/** Applications that a token may have gone through. */
const stepsMax = 10

/**
 * The new token is for the same user, lasts no longer than the given one and the secret of the application, and rests
 * on the same credential and session, and on the applications that both went through.
 */
async function onBehalfOf(
  { authenticator, directory, issue }: ExchangeOptions,
  form: URLSearchParams,
  {
    clientId,
    step,
    endsAt,
  }: { readonly clientId: string; readonly step: string; readonly endsAt: number },
): Promise<{ readonly principal: PrincipalRecord; readonly issued: Issued } | Refusal> {
  if (form.get('requested_token_use') !== 'on_behalf_of') {
    return refusal(400, 'invalid_request', 'requested_token_use must be on_behalf_of.')
  }
  const assertion = form.get('assertion') ?? ''
  try {
    const caller = await authenticator.authenticate(`Bearer ${assertion}`)
    const user = caller.issuer === undefined ? await directory.record(caller.id) : undefined
    const parsed = parseToken(assertion)
    if (user?.type !== 'User' || typeof parsed === 'string') {
      return refusal(400, 'invalid_grant', 'The assertion is no token of a user of this directory.')
    }
    const { exp, sid, cred, via } = parsed.claims
    const through = [...new Set([...(Array.isArray(via) ? via.map(String) : []), step])]
    if (through.length > stepsMax) {
      const reason = `The assertion went through ${stepsMax} applications already.`
      return refusal(400, 'invalid_grant', reason)
    }
    // As the assertion was issued: whoever was revoked since gets no token that outlives it.
    const { generation = user.generation } = caller
    const issued = await issue(
      { ...user, generation },
      {
        clientId,
        endsAt: Math.min(Number(exp) * 1000, endsAt),
        ...(typeof sid === 'string' ? { sessionId: sid } : {}),
        ...(typeof cred === 'string' ? { credentialId: cred } : {}),
        through,
      },
    )
    return { principal: user, issued }
  } catch (error) {
    // A token that would be refused as a bearer token is refused as an assertion.
    if (error instanceof ApiError && error.status === 401) {
      return refusal(400, 'invalid_grant', error.message)
    }
    throw error
  }
}

/** Finds the client by its assertion or its secret. */
async function findClient(
  { directory, federatedOf }: ExchangeOptions,
  check: CheckAssertion,
  form: URLSearchParams,
): Promise<Client | Refusal> {
  const principal = await directory.clientPrincipal(form.get('client_id') ?? '')
  const assertion = form.get('client_assertion')
  if (principal === undefined || principal.publicClient) {
    return refusal(401, 'invalid_client', 'There is no such client, or it is a public one.')
  }
  if (assertion === null) {
    const secret = form.get('client_secret')
    const used = secret === null ? undefined : await directory.verifySecret(principal.id, secret)
    if (used === undefined) {
      return refusal(401, 'invalid_client', 'The secret is missing or wrong.')
    }
    const { id: credentialId, expiresAt: endsAt } = used
    return { principal, credentialId, ...(endsAt === undefined ? {} : { endsAt }) }
  }
  if (form.get('client_assertion_type') !== assertionType) {
    return refusal(400, 'invalid_request', `client_assertion_type must be ${assertionType}.`)
  }
  const federated = await directory.federated(principal.id)
  const own = federated.map((one) => ({ ...one, id: groundOf(one) }))
  const resource = await directory.resourceOf(principal.id)
  const trusted = resource === undefined ? own : [...own, ...(await federatedOf(resource))]
  const found = await check(
    assertion,
    trusted,
    resource === undefined ? principal.id : groupKey(resource),
  )
  return typeof found === 'string'
    ? refusal(401, 'invalid_client', `The client assertion is not accepted: ${found}.`)
    : { principal, credentialId: found.id }
}

function refusal(status: number, error: string, text: string): Refusal {
  return { status, error, text }
}

function clientInfo(uid: string, utid: string): string {
  return Buffer.from(JSON.stringify({ uid, utid })).toString('base64url')
}
