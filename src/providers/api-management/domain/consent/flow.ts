/**
 * The way of a browser: from a login link, through the anti-phishing page, to the identity provider and back with a
 * consent code. Each step is one change of the authorization's row, so a crash leaves a step done or not done.
 */

import { createHash } from 'node:crypto'
import type { Seal } from '#kernel/ports.ts'
import { groupKey, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { createRoom, inRoom, type Room } from '#kernel/room.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { ConsentDependencies } from '../../dependencies.ts'
import type { AuthorizationProvider } from '../../resources/authorization-providers/model.ts'
import type { Authorization, Login } from '../../resources/authorizations/model.ts'
import { endpointsOf, receiverOf, scopeOf } from './endpoints.ts'
import { sealedFor } from './model.ts'
import {
  callbackPath,
  hashOf,
  openRef,
  packRef,
  parentKey,
  type Ref,
  sameHash,
} from './references.ts'
import { obtainTokens } from './tokens.ts'

/**
 * Rows of authorizations that are read and written at once, for one resource group and for all. They hold the tokens of twenty
 * consents, and anybody who has a link opens it.
 */
const roomForRows = { perOwnerMax: 2, sumMax: 4 }

export const linkMilliseconds = 60 * 60_000
export const codeMilliseconds = 5 * 60_000
/** The number of links per authorization, and of codes that are recognized as used or expired. */
export const loginsMax = 20

/** Who asks, for what, and where it ends: what a person must know before continuing. */
export interface ConsentPrompt {
  readonly service: string
  readonly authorization: string
  readonly provider: string
  readonly signInHost: string
  readonly returnsTo: string
}

export type Step =
  | { readonly kind: 'ask'; readonly prompt: ConsentPrompt }
  /** `keep` is a value for the browser to keep under the login's name until it returns. */
  | {
      readonly kind: 'go'
      readonly to: string
      readonly keep?: { readonly login: string; readonly value: string }
    }
  | { readonly kind: 'stop'; readonly reason: string }

export interface ConsentFlow {
  /** A link is opened. After a confirmed consent nothing is asked any more. */
  open(link: string): Promise<Step>
  /** The person continues. */
  proceed(link: string): Promise<Step>
  /** The person declines: back, without a code. */
  leave(link: string): Promise<Step>
  /** The identity provider redirects the browser back. `kept` returns what the browser kept for a login. */
  back(answer: {
    readonly state: string
    readonly code: string | undefined
    readonly error: string | undefined
    kept(login: string): string | undefined
  }): Promise<Step>
}

const gone: Step = {
  kind: 'stop',
  reason: 'This link is not valid any more. Ask for another one.',
}

/** What is needed of the row, which may be large. */
interface Found {
  readonly ref: Ref
  readonly id: ResourceId
  readonly confirmedFor: string | undefined
  readonly login: Login
}

interface FlowDependencies extends ConsentDependencies {
  readonly rows: Room
}

export function openConsentFlow(given: ConsentDependencies): ConsentFlow {
  const deps = { ...given, rows: createRoom(roomForRows) }
  const { seal, ids } = deps
  const find = async (context: string, text: string): Promise<Found | undefined> => {
    const ref = openRef(seal, context, text)
    return ref && inRoom(deps.rows, groupKey(ref.key), () => findLogin(deps, ref))
  }
  const proceed = async (link: string): Promise<Step> => {
    const found = await find(sealedFor.link, link)
    if (found === undefined || found.login.returned !== undefined) return gone
    const { ref } = found
    const above = await providerOf(deps, ref.key)
    if (above === undefined) return gone
    const provider = above.model as AuthorizationProvider
    const [nonce, browser, verifier] = [ids.secret(32), ids.secret(32), ids.secret(48)]
    const sent: Login['sent'] = {
      stateHash: hashOf(nonce),
      browserHash: hashOf(browser),
      sealedVerifier: seal.seal(verifier, sealedFor.verifier(ref.key)),
      provider: hashOf(receiverOf(provider)),
    }
    const written = await updateLogin(deps, ref, (login) =>
      login.returned === undefined ? { ...login, sent } : undefined,
    )
    if (!written) return gone
    const { authorization, extra } = endpointsOf(provider)
    const url = new URL(authorization)
    const scope = scopeOf(provider)
    const query = {
      ...extra,
      client_id: provider.parameters['clientId'] ?? '',
      response_type: 'code',
      redirect_uri: callbackOf(provider, deps),
      ...(scope === undefined ? {} : { scope }),
      state: packRef(seal, sealedFor.state, { ...ref, nonce }),
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return { kind: 'go', to: url.href, keep: { login: ref.login, value: browser } }
  }

  return {
    async open(link) {
      const found = await find(sealedFor.link, link)
      if (found === undefined || found.login.returned !== undefined) return gone
      const above = await providerOf(deps, found.ref.key)
      if (above === undefined) return gone
      const provider = above.model as AuthorizationProvider
      if (found.confirmedFor === shownOf(provider)) return proceed(link)
      return {
        kind: 'ask',
        prompt: {
          service: nameOf(parentOf(above.id)),
          authorization: nameOf(found.id),
          provider: provider.displayName,
          signInHost: URL.parse(endpointsOf(provider).authorization)?.host ?? '',
          returnsTo: URL.parse(found.login.postLoginRedirectUrl)?.host ?? '',
        },
      }
    },
    proceed,
    async leave(link) {
      const found = await find(sealedFor.link, link)
      if (found === undefined || found.login.returned !== undefined) return gone
      return { kind: 'go', to: returned(found.login, { error: 'access_denied' }) }
    },
    async back({ state, code, error, kept }) {
      const found = await find(sealedFor.state, state)
      const sent = found?.login.sent
      if (found === undefined || sent === undefined || found.login.returned !== undefined) {
        return gone
      }
      const { ref, login } = found
      const browser = kept(ref.login)
      const isOurs =
        sameHash(hashOf(ref.nonce ?? ''), sent.stateHash) &&
        browser !== undefined &&
        sameHash(hashOf(browser), sent.browserHash)
      if (!isOurs) {
        return { kind: 'stop', reason: 'This browser did not begin this sign-in. Begin it again.' }
      }
      // The returned code is used once, whatever the result.
      const taken = await updateLogin(deps, ref, ({ sent: now, ...rest }) =>
        now?.stateHash === sent.stateHash ? rest : undefined,
      )
      if (!taken) return gone
      if (error !== undefined || code === undefined) {
        return { kind: 'go', to: returned(login, { error: known(error) }) }
      }
      return exchange(deps, { ...found, sent, code })
    },
  }
}

/** Exchanges the code for tokens, and creates our consent code for the service. */
async function exchange(
  deps: FlowDependencies,
  {
    ref,
    login,
    sent,
    code,
  }: Found & { readonly sent: NonNullable<Login['sent']>; readonly code: string },
): Promise<Step> {
  const { seal, clock, ids } = deps
  const above = await providerOf(deps, ref.key)
  const verifier = seal.open(sent.sealedVerifier, sealedFor.verifier(ref.key))
  if (above === undefined || verifier === undefined) return gone
  const provider = above.model as AuthorizationProvider
  if (sent.provider !== hashOf(receiverOf(provider))) {
    deps.log.warn(
      { authorization: ref.key },
      'a code was not exchanged: its authorization provider leads elsewhere now',
    )
    return {
      kind: 'stop',
      reason: 'The authorization provider leads elsewhere now. Begin this sign-in again.',
    }
  }
  const obtained = await obtainTokens(deps, {
    key: ref.key,
    provider,
    form: {
      grant_type: 'authorization_code',
      code,
      redirect_uri: callbackOf(provider, deps),
      code_verifier: verifier,
    },
  })
  if (!obtained.ok) {
    deps.log.warn(
      { authorization: ref.key, error: obtained.code },
      'a code was not exchanged for a token',
    )
    return { kind: 'go', to: returned(login, { error: known(obtained.code) }) }
  }
  // It begins with a letter: on a command line a dash would begin an option.
  const consentCode = `c${ids.secret(32)}`
  const written = await updateLogin(deps, ref, (now) => ({
    ...now,
    returned: {
      codeHash: hashOf(consentCode),
      codeExpiresAt: clock.now() + codeMilliseconds,
      shown: shownOf(provider),
      tokens: obtained.tokens,
    },
  }))
  return written ? { kind: 'go', to: returned(login, { consentCode }) } : gone
}

async function findLogin(
  { services, clock }: FlowDependencies,
  ref: Ref,
): Promise<Found | undefined> {
  const resource = await services.reader.get(ref.key)
  // Only authorizations are ever packed.
  const authorization = resource?.model as Authorization | undefined
  const login = authorization?.logins.find((one) => one.id === ref.login)
  if (resource === undefined || login === undefined || login.expiresAt <= clock.now()) return
  return { ref, id: resource.id, confirmedFor: authorization?.confirmedFor, login }
}

/** A different text means that a person would be shown, or sent to, something else. */
function shownOf(provider: AuthorizationProvider): string {
  const { displayName, redirectUrl } = provider
  const { authorization } = endpointsOf(provider)
  const sent = [receiverOf(provider), scopeOf(provider), redirectUrl]
  return hashOf(JSON.stringify([displayName, authorization, ...sent]))
}

async function providerOf(
  { services }: ConsentDependencies,
  key: string,
): Promise<Resource | undefined> {
  return services.reader.get(parentKey(key))
}

/** Errors of RFC 6749 are passed on; anything else from an identity provider does not reach the address. */
function known(error: string | undefined): string {
  const names = [
    ...['access_denied', 'invalid_request', 'unauthorized_client', 'invalid_scope'],
    ...['unsupported_response_type', 'server_error', 'temporarily_unavailable', 'invalid_grant'],
    ...['invalid_client'],
  ]
  return error !== undefined && names.includes(error) ? error : 'server_error'
}

function returned(
  { postLoginRedirectUrl }: Login,
  query: Readonly<Record<string, string>>,
): string {
  const url = new URL(postLoginRedirectUrl)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}

function callbackOf({ redirectUrl }: AuthorizationProvider, deps: ConsentDependencies): string {
  return redirectUrl ?? `${deps.publicUrl()}${callbackPath}`
}

function updateLogin(
  { services, rows }: FlowDependencies,
  ref: Ref,
  change: (login: Login) => Login | undefined,
): Promise<boolean> {
  const update = () =>
    services.updateAsSystem(ref.key, (resource) => {
      const model = resource.model as Authorization
      const login = model.logins.find((one) => one.id === ref.login)
      const next = login === undefined ? undefined : change(login)
      if (next === undefined) return undefined
      const logins = model.logins.map((one) => (one.id === next.id ? next : one))
      return { ...model, logins } satisfies Authorization
    })
  return inRoom(rows, groupKey(ref.key), update)
}

export function newLink(seal: Seal, key: string, login: Login): string {
  return packRef(seal, sealedFor.link, { key, login: login.id })
}
