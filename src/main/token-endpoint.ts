/**
 * Requests tokens from identity providers for authorizations: without redirects, with a bounded answer, and by the
 * outbound policy. The installation's own identity server is always allowed.
 */

import { isJsonObject } from '#kernel/patch.ts'
import { positionIn } from '#kernel/text-search.ts'
import { NotReached, noAnswer, type Outbound } from '#outbound/outbound.ts'
import { answerOf, textOf } from '#outbound/request.ts'
import type { TokenAnswer, TokenEndpoint } from '#providers/api-management/dependencies.ts'

interface TokenEndpointOptions {
  readonly outbound: Outbound
  publicUrl(): string
}

const seconds = 15
/** What comes is kept, for twenty consents of a connection. */
const bytesMax = 64 * 1024

export function openTokenEndpoint(options: TokenEndpointOptions): TokenEndpoint {
  const { outbound } = options
  return {
    async ask(text, form, owner) {
      const url = URL.parse(text)
      if (url === null || !['http:', 'https:'].includes(url.protocol)) {
        return failed('InvalidAddress', 'its token endpoint is no http or https address', false)
      }
      const isOwn = url.origin === URL.parse(options.publicUrl())?.origin
      return sent(isOwn ? outbound.allowing([url]) : outbound, { url, form, owner })
    },
  }
}

function failed(error: string, message: string, transient: boolean): TokenAnswer {
  return { ok: false, error, message, transient }
}

/** Never throws: every failure becomes an answer. */
async function sent(
  outbound: Outbound,
  {
    url,
    form,
    owner,
  }: {
    readonly url: URL
    readonly form: Readonly<Record<string, string>>
    readonly owner: string
  },
): Promise<TokenAnswer> {
  const signal = AbortSignal.timeout(seconds * 1000)
  try {
    const body = new URLSearchParams(form).toString()
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(Buffer.byteLength(body)),
    }
    const answer = await answerOf(outbound, { url, headers, body, signal, owner })
    const text = await textOf(answer, bytesMax)
    return read(answer.statusCode ?? 0, text, form)
  } catch (error) {
    const isRuledOut = error instanceof NotReached && error.isRuledOut
    if (isRuledOut) return failed('AddressNotAllowed', `${error.message} (setting outbound)`, false)
    return failed('IdentityProviderUnavailable', noAnswer, true)
  }
}

/** RFC 6749, 5.2. */
const errorPattern = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,60}$/

/** Parameters that nobody but the endpoint may know. */
const secretNames = ['client_secret', 'code', 'code_verifier', 'refresh_token']

function repeatsSecret(text: string, form: Readonly<Record<string, string>>): boolean {
  const secrets = secretNames.flatMap((name) => form[name] || [])
  return secrets.some((one) =>
    [one, encodeURIComponent(one)].some((part) => positionIn(text, part) >= 0),
  )
}

function read(status: number, text: string, form: Readonly<Record<string, string>>): TokenAnswer {
  const answer = parsed(text)
  const error = answer?.['error']
  if (status === 200 && answer !== undefined && error === undefined) return { ok: true, answer }
  if (typeof error === 'string' && errorPattern.test(error) && !repeatsSecret(error, form)) {
    // Text of strangers is shortened. Whoever may read the connection may read it.
    const described = answer?.['error_description']
    const isShown = typeof described === 'string' && !repeatsSecret(described, form)
    const description = isShown ? `: ${described.slice(0, 300)}` : ''
    const transient = ['temporarily_unavailable', 'server_error'].includes(error)
    return failed(error, `it refused (${error})${description}`, transient)
  }
  // The address is no token endpoint. Its answer is not shown: it may be a secret page of an inner network.
  return failed('IdentityProviderUnavailable', noAnswer, true)
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    // JSON.parse reports bad text only by throwing.
    return undefined
  }
}
