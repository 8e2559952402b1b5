/** Gets tokens by a code, by credentials, or by a refresh token. It stores them sealed and never prints one. */

import { isDeepStrictEqual } from 'node:util'
import type { Seal } from '#kernel/ports.ts'
import { groupKey } from '#kernel/resource-id.ts'
import type { ConsentDependencies } from '../../dependencies.ts'
import type { AuthorizationProvider } from '../../resources/authorization-providers/model.ts'
import type { Authorization, KeptTokens, Tokens } from '../../resources/authorizations/model.ts'
import { endpointsOf, receiverOf, scopeOf } from './endpoints.ts'
import { sealedFor, type Texts } from './model.ts'
import { hashOf, parentKey } from './references.ts'

export type TokenResult =
  | { readonly ok: true; readonly tokens: KeptTokens }
  | {
      readonly ok: false
      readonly code: string
      readonly message: string
      readonly transient: boolean
    }

/** Used when the answer does not say. */
const lifeSeconds = 3600
/** A hundred years: a time that is much later is no number of JavaScript any more. */
const lifeSecondsMax = 3_155_760_000
const refreshedAheadMilliseconds = 5 * 60_000
const leaseMilliseconds = 60_000

interface TokenRequest {
  /** The key of the authorization. */
  readonly key: string
  readonly provider: AuthorizationProvider
  readonly form: Texts
  readonly refreshing?: Tokens
}

export async function obtainTokens(
  deps: ConsentDependencies,
  request: TokenRequest,
): Promise<TokenResult> {
  const { provider, key, form, refreshing } = request
  const { token, refresh } = endpointsOf(provider)
  const secret = secretOf(deps.seal, provider, key)
  const sent = {
    client_id: provider.parameters['clientId'] ?? '',
    ...(secret === undefined ? {} : { client_secret: secret }),
    ...form,
  }
  const address = refreshing === undefined ? token : refresh
  const answer = await deps.tokens.ask(address, sent, groupKey(key))
  if (!answer.ok) {
    return {
      ok: false,
      code: answer.error,
      message: answer.message,
      transient: answer.transient,
    }
  }
  const { access_token, token_type, refresh_token, expires_in } = answer.answer
  if (typeof access_token !== 'string' || access_token === '') {
    const message = 'The identity provider answered without an access token.'
    return { ok: false, code: 'InvalidAnswer', message, transient: false }
  }
  const refreshToken = typeof refresh_token === 'string' ? refresh_token : refreshing?.refreshToken
  const tokens: Tokens = {
    accessToken: access_token,
    tokenType: typeof token_type === 'string' ? token_type : 'Bearer',
    ...(refreshToken === undefined ? {} : { refreshToken }),
  }
  const seconds = Math.min(Number(expires_in), lifeSecondsMax)
  return {
    ok: true,
    tokens: {
      sealed: deps.seal.seal(JSON.stringify(tokens), sealedFor.tokens(key)),
      expiresAt:
        deps.clock.now() + (Number.isFinite(seconds) && seconds > 0 ? seconds : lifeSeconds) * 1000,
      provider: hashOf(receiverOf(provider)),
      refreshable: refreshToken !== undefined || provider.grantType === 'ClientCredentials',
    },
  }
}

/** The client secret belongs to the provider, above the authorization of that key. */
function secretOf(seal: Seal, provider: AuthorizationProvider, key: string): string | undefined {
  if (provider.sealedSecret === undefined) return undefined
  const opened = seal.open(provider.sealedSecret, sealedFor.secret(parentKey(key)))
  if (opened === undefined) throw new Error(`the secret above ${key} cannot be opened`)
  return opened
}

export function obtainByCredentials(
  deps: ConsentDependencies,
  key: string,
  provider: AuthorizationProvider,
): Promise<TokenResult> {
  const scope = scopeOf(provider)?.replace(/ ?offline_access/, '')
  const form = {
    grant_type: 'client_credentials',
    ...(scope === undefined ? {} : { scope }),
  }
  return obtainTokens(deps, { key, provider, form })
}

export function openTokens(seal: Seal, key: string, kept: KeptTokens): Tokens {
  const opened = seal.open(kept.sealed, sealedFor.tokens(key))
  if (opened === undefined) throw new Error(`the tokens of ${key} cannot be opened`)
  // Only `obtainTokens` seals this.
  return JSON.parse(opened) as Tokens
}

/** The last moment that has a date. */
const lastMoment = 8.64e15

/** When the tokens end. What earlier versions kept of a provider that names a time far away is read as a BigInt. */
export function endOf({ expiresAt }: KeptTokens): number {
  return Math.min(Number(expiresAt), lastMoment)
}

export function isDue({ tokens, status }: Authorization, now: number): boolean {
  return (
    status === 'Connected' &&
    tokens?.refreshable === true &&
    endOf(tokens) - now < refreshedAheadMilliseconds
  )
}

/** Refreshes tokens after taking the lease; a refusal of the identity provider becomes the state `Error`. */
export async function refresh(deps: ConsentDependencies, key: string): Promise<void> {
  const { services, clock } = deps
  // Alone: a connection may keep twenty sets of tokens, and the identity provider may be slow.
  let found: KeptTokens | undefined
  const taken = await services.updateAsSystem(key, (resource) => {
    // The type's `toModel` made the rows.
    const before = resource.model as Authorization
    found = before.tokens
    const now = clock.now()
    if (!isDue(before, now) || (before.refreshingUntil ?? 0) > now) return undefined
    return { ...before, refreshingUntil: now + leaseMilliseconds } satisfies Authorization
  })
  const kept = found
  const provider = (await services.reader.get(parentKey(key)))?.model as
    | AuthorizationProvider
    | undefined
  if (!taken || kept === undefined || provider === undefined) return
  const tokens = openTokens(deps.seal, key, kept)
  if (kept.provider !== hashOf(receiverOf(provider))) {
    await services.updateAsSystem(key, (resource) => {
      const { refreshingUntil: _done, ...now } = resource.model as Authorization
      const message =
        'The authorization provider leads elsewhere now: consent has to be given anew.'
      return { ...now, status: 'Error', error: { code: 'ProviderChanged', message } }
    })
    return
  }
  const obtained =
    provider.grantType === 'ClientCredentials'
      ? await obtainByCredentials(deps, key, provider)
      : await obtainTokens(deps, {
          key,
          provider,
          refreshing: tokens,
          form: { grant_type: 'refresh_token', refresh_token: tokens.refreshToken ?? '' },
        })
  await services.updateAsSystem(key, (resource) => {
    const { refreshingUntil: _done, ...now } = resource.model as Authorization
    // Reconnected meanwhile, so the new tokens belong to the old connection. A rotation of the key seals the same ones anew.
    const isSame = now.tokens && isDeepStrictEqual(openTokens(deps.seal, key, now.tokens), tokens)
    if (isSame !== true) return now
    if (obtained.ok) return { ...now, tokens: obtained.tokens }
    if (obtained.transient && endOf(kept) > clock.now()) return now
    const message = `The token could not be refreshed: ${obtained.message}`
    return { ...now, status: 'Error', error: { code: 'RefreshFailed', message } }
  })
}
