/**
 * What known clients read in the answers of the OAuth server and the library does not say: how often to ask
 * for a device code, what to tell the person, the scopes in the words of the question, and whose token it is.
 */

import type { Context } from 'oidc-provider'
import { requestBehind } from './oauth-request.ts'
import { type RewriteOptions, rewriteScope, routes } from './rewrite.ts'

export interface AnswerOptions extends Pick<RewriteOptions, 'audience' | 'aliases'> {
  readonly tenantId: string
}

/** Seconds a client waits between two questions for a device code (RFC 8628, 3.5). */
const deviceIntervalSeconds = 2

/** A step around the library's own. */
export function completeAnswers(
  options: AnswerOptions,
): (ctx: Context, next: () => Promise<void>) => Promise<void> {
  return async (ctx, next) => {
    await next()
    const { body } = ctx
    if (ctx.status !== 200 || typeof body !== 'object' || body === null) return
    if (ctx.path === routes.device_authorization) ctx.body = { ...body, ...deviceFields(body) }
    if (ctx.path === routes.token) ctx.body = { ...body, ...tokenFields(ctx, body, options) }
  }
}

function deviceFields(body: object): object {
  const { verification_uri: page, user_code: code } = body as Record<string, unknown>
  return {
    interval: deviceIntervalSeconds,
    // The name of drafts of the standard, which older clients read.
    verification_url: page,
    message: `To sign in, open the page ${String(page)} in a browser and enter the code ${String(code)}.`,
  }
}

function tokenFields(ctx: Context, body: object, options: AnswerOptions): object {
  const asked = requestBehind(ctx.req)?.asked
  const { scope } = body as Record<string, unknown>
  const words = asked?.get('scope') ?? null
  const accountId = ctx.oidc.account?.accountId
  return {
    ...(typeof scope === 'string' && words !== null
      ? { scope: scopeAsAsked(scope, words, options) }
      : {}),
    ...(asked?.get('client_info') === '1' && accountId !== undefined
      ? { client_info: clientInfo(accountId, options.tenantId) }
      : {}),
  }
}

/** What was granted, in the words of the question: clients file tokens under the scopes they asked for. */
export function scopeAsAsked(
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
