/**
 * Adds to the OAuth server's answers what known clients read and the library leaves out: the polling interval of a
 * device code, the message for the person, the scopes as the client asked for them, and the owner of the token.
 */

import type { Context } from 'oidc-provider'
import { deviceGrant } from './clients.ts'
import { parseToken } from './jwt.ts'
import { requestBehind } from './oauth-request.ts'
import { type RewriteOptions, rewriteScope, routes } from './rewrite.ts'
import { type OnSignIn, type SignInEvent, triedName } from './sign-in-events.ts'

interface AnswerOptions extends Pick<RewriteOptions, 'audience' | 'aliases'> {
  readonly tenantId: string
}

/** Seconds a client waits between two questions for a device code (RFC 8628, 3.5). */
const deviceIntervalSeconds = 2

/**
 * True when the library handles this request. It ignores requests with another method, and then there is nothing to
 * add.
 */
export function isServed(ctx: Context, path: string): boolean {
  return ctx.path === path && 'oidc' in ctx
}

/** Wraps the library's own step. */
export function completeAnswers(
  options: AnswerOptions,
): (ctx: Context, next: () => Promise<void>) => Promise<void> {
  return async (ctx, next) => {
    await next()
    const { body } = ctx
    if (ctx.status !== 200 || typeof body !== 'object' || body === null) return
    if (isServed(ctx, routes.device_authorization)) ctx.body = { ...body, ...deviceFields(body) }
    if (isServed(ctx, routes.token)) ctx.body = { ...body, ...tokenFields(ctx, body, options) }
  }
}

/** Reports the outcome of every token request, except those that only poll for a person. */
export function reportOutcomes(
  onSignIn: OnSignIn,
): (ctx: Context, next: () => Promise<void>) => Promise<void> {
  return async (ctx, next) => {
    await next()
    const request = requestBehind(ctx.req)
    if (!isServed(ctx, routes.token) || request === undefined) return
    const error = ctx.status === 200 ? undefined : errorIn(ctx.body)
    if (error === 'authorization_pending' || error === 'slow_down') return
    const { client, account } = ctx.oidc
    const clientId = client?.clientId ?? triedName(request.asked.get('client_id') ?? '')
    const grant = grantNames.get(request.asked.get('grant_type') ?? '') ?? 'other'
    const ownName = grant === 'client_credentials' ? clientId : undefined
    onSignIn({
      outcome: error === undefined ? 'succeeded' : 'refused',
      grant,
      principalId:
        account?.accountId ?? (error === undefined ? principalIdIn(ctx.body) : undefined),
      name: ownName ?? account?.accountId ?? clientId,
      clientId,
      origin: request.origin,
      error,
    })
  }
}

const grantNames: ReadonlyMap<string, SignInEvent['grant']> = new Map([
  ['authorization_code', 'authorization_code'],
  ['client_credentials', 'client_credentials'],
  ['refresh_token', 'refresh_token'],
  ['device_code', 'device_code'],
  [deviceGrant, 'device_code'],
])

function errorIn(body: unknown): string {
  const { error } = Object(body) as { readonly error?: unknown }
  return typeof error === 'string' ? error : 'server_error'
}

/** Reads the principal id from a token that this server has just signed. */
function principalIdIn(body: unknown): string | undefined {
  const { access_token: token } = Object(body) as { readonly access_token?: unknown }
  const parsed = typeof token === 'string' ? parseToken(token) : 'none'
  return typeof parsed === 'string' ? undefined : String(parsed.claims['oid'])
}

function deviceFields(body: object): object {
  const { verification_uri: page, user_code: code } = body as Record<string, unknown>
  return {
    interval: deviceIntervalSeconds,
    // Older clients read this name, which comes from drafts of the standard.
    verification_url: page,
    message: `To sign in, open the page ${String(page)} in a browser and enter the code ${String(code)}.`,
  }
}

function tokenFields(ctx: Context, body: object, options: AnswerOptions): object {
  const request = requestBehind(ctx.req)
  const asked = request?.asked
  const aliases = [...options.aliases, ...(request === undefined ? [] : [request.publicUrl])]
  const { scope } = body as Record<string, unknown>
  const words = asked?.get('scope') ?? null
  const accountId = ctx.oidc.account?.accountId
  return {
    ...(typeof scope === 'string' && words !== null
      ? { scope: scopeAsAsked(scope, words, { ...options, aliases }) }
      : {}),
    ...(asked?.get('client_info') === '1' && accountId !== undefined
      ? { client_info: clientInfo(accountId, options.tenantId) }
      : {}),
  }
}

/**
 * The granted scopes, spelled as the client asked for them. Clients cache tokens under the scopes they asked for.
 */
function scopeAsAsked(
  granted: string,
  asked: string,
  options: Pick<RewriteOptions, 'audience' | 'aliases'>,
): string {
  const left = new Set(granted.split(' '))
  const words = asked.split(' ').filter((word) => left.has(rewriteScope(word, options)))
  for (const word of words) left.delete(rewriteScope(word, options))
  return [...new Set([...words, ...left])].join(' ')
}

function clientInfo(uid: string, utid: string): string {
  return Buffer.from(JSON.stringify({ uid, utid })).toString('base64url')
}
