/**
 * Gets tokens from the installation's OAuth server: for an application that has a secret, and for a person at
 * another screen. The caller stores the token.
 */

import { isJsonObject } from '#kernel/patch.ts'
import { textOf } from './answer.ts'
import { createClient, type Fetch } from './client.ts'
import { ClientError } from './client-error.ts'
import { systemTiming, type Timing } from './timing.ts'

interface TokenEndpoint {
  /** The address of the installation. */
  readonly url: string
  readonly fetch?: Fetch
  readonly timing?: Timing
}

interface Token {
  readonly accessToken: string
  readonly expiresInSeconds: number
  readonly refreshToken: string | undefined
}

const tokenPath = '/common/oauth2/token'
const deviceCodePath = '/common/oauth2/devicecode'
const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code'

interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
  /** The audience; the control plane when left out. */
  readonly resource?: string | undefined
}

/** Throws `ClientError` (`invalid_client`, …) when refused. */
export function clientCredentialsToken(options: TokenEndpoint & ClientCredentials): Promise<Token> {
  return askForToken(options, {
    grant_type: 'client_credentials',
    client_id: options.clientId,
    client_secret: options.clientSecret,
    resource: options.resource,
  })
}

interface RefreshOptions {
  readonly clientId: string
  readonly refreshToken: string
}

export function refreshedToken(options: TokenEndpoint & RefreshOptions): Promise<Token> {
  return askForToken(options, {
    grant_type: 'refresh_token',
    client_id: options.clientId,
    refresh_token: options.refreshToken,
  })
}

interface DeviceCodeOptions {
  readonly clientId: string
  readonly resource?: string | undefined
  readonly scope?: string
  /** Called once with the page the person opens and the code to enter there. */
  readonly tell: (prompt: DevicePrompt) => void
  readonly signal?: AbortSignal
}

export interface DevicePrompt {
  readonly verificationUrl: string
  /** The page with the code filled in, if the server offers one. */
  readonly completeUrl: string | undefined
  readonly userCode: string
  readonly expiresInSeconds: number
}

/** Waits until the person has signed in (RFC 8628). Throws `ClientError` when they refuse or take too long. */
export async function deviceCodeToken(options: TokenEndpoint & DeviceCodeOptions): Promise<Token> {
  const timing = options.timing ?? systemTiming
  const started = await post(options, deviceCodePath, {
    client_id: options.clientId,
    scope: options.scope ?? 'openid offline_access user_impersonation',
    resource: options.resource,
  })
  const deviceCode = required(started, 'device_code')
  const expiresInSeconds = numberOf(started, 'expires_in') ?? 900
  options.tell({
    verificationUrl: required(started, 'verification_uri'),
    completeUrl: textOf(started, 'verification_uri_complete'),
    userCode: required(started, 'user_code'),
    expiresInSeconds,
  })
  let waitSeconds = numberOf(started, 'interval') ?? 5
  const endsAt = timing.now() + expiresInSeconds * 1000
  for (;;) {
    await timing.sleep(waitSeconds * 1000, options.signal)
    try {
      return await askForToken(options, {
        grant_type: deviceCodeGrant,
        client_id: options.clientId,
        device_code: deviceCode,
        resource: options.resource,
      })
    } catch (error) {
      // The protocol uses an error code to say "not yet".
      if (!(error instanceof ClientError)) throw error
      if (error.code === 'slow_down') waitSeconds += 5
      else if (error.code !== 'authorization_pending') throw error
      if (timing.now() >= endsAt) throw error
    }
  }
}

async function askForToken(endpoint: TokenEndpoint, form: Form): Promise<Token> {
  const body = await post(endpoint, tokenPath, form)
  return {
    accessToken: required(body, 'access_token'),
    expiresInSeconds: numberOf(body, 'expires_in') ?? 0,
    refreshToken: textOf(body, 'refresh_token'),
  }
}

type Form = Readonly<Record<string, string | undefined>>

async function post(endpoint: TokenEndpoint, path: string, form: Form): Promise<unknown> {
  const pairs = Object.entries(form).filter((pair): pair is [string, string] => {
    return pair[1] !== undefined
  })
  const { url, fetch, timing } = endpoint
  const client = createClient({
    url,
    ...(fetch === undefined ? {} : { fetch }),
    ...(timing === undefined ? {} : { timing }),
  })
  const answer = await client.request('POST', path, {
    body: new URLSearchParams(pairs).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  return answer.body
}

function required(body: unknown, key: string): string {
  const value = textOf(body, key)
  if (value === undefined) throw new TypeError(`the OAuth server's answer has no ${key}`)
  return value
}

/** Some servers of this family send `expires_in` as text. */
function numberOf(body: unknown, key: string): number | undefined {
  const value = isJsonObject(body) ? body[key] : undefined
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
