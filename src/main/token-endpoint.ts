/**
 * Asks the token endpoints of identity providers for authorizations: without redirects, a bounded answer, and not in
 * private networks unless that was allowed. The installation's own identity server is always reached.
 */

import type { TokenAnswer, TokenEndpoint } from '#providers/api-management/authorizations/parts.ts'
import { answerOf, leadsInside, textOf } from './outbound.ts'

export interface TokenEndpointOptions {
  readonly allowPrivate: boolean
  publicUrl(): string
}

const seconds = 15
const bytesMax = 256 * 1024

export function openTokenEndpoint(options: TokenEndpointOptions): TokenEndpoint {
  return {
    async ask(text, form) {
      const url = URL.parse(text)
      if (url === null || !['http:', 'https:'].includes(url.protocol)) {
        return failed('InvalidAddress', 'its token endpoint is no http or https address', false)
      }
      const isOwn = url.origin === URL.parse(options.publicUrl())?.origin
      const isOpen = isOwn || options.allowPrivate
      if (!isOpen && leadsInside(url)) {
        return failed(
          'PrivateAddress',
          'its token endpoint has a private address, which is not allowed here (setting consentPrivate)',
          false,
        )
      }
      return sent(url, form, isOpen)
    },
  }
}

function failed(error: string, message: string, transient: boolean): TokenAnswer {
  return { ok: false, error, message, transient }
}

/** Throws nothing: whatever goes wrong is an answer. */
async function sent(
  url: URL,
  form: Readonly<Record<string, string>>,
  isOpen: boolean,
): Promise<TokenAnswer> {
  const signal = AbortSignal.timeout(seconds * 1000)
  try {
    const body = new URLSearchParams(form).toString()
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(Buffer.byteLength(body)),
    }
    const answer = await answerOf({ url, headers, body, isOpen, signal })
    const text = await textOf(answer, bytesMax)
    return read(answer.statusCode ?? 0, text)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed'
    const reason = signal.aborted ? 'it takes too long' : `it does not answer (${code})`
    return failed('IdentityProviderUnavailable', reason, true)
  }
}

function read(status: number, text: string): TokenAnswer {
  const answer = parsed(text)
  const error = answer?.['error']
  if (status === 200 && answer !== undefined && error === undefined) return { ok: true, answer }
  if (typeof error === 'string') {
    // Texts of strangers are cut short, and never hold what was sent.
    const told = answer?.['error_description']
    const description = typeof told === 'string' ? `: ${told.slice(0, 300)}` : ''
    const transient = ['temporarily_unavailable', 'server_error'].includes(error)
    return failed(error.slice(0, 60), `it refused (${error.slice(0, 60)})${description}`, transient)
  }
  return failed('InvalidAnswer', `it answered with the status ${status}`, status >= 500)
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    // JSON.parse has no other way to say no.
    return undefined
  }
}
