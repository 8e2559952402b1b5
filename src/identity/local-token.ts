/**
 * Issues tokens for the local owner in the managed-identity form that SDKs and command lines know (facts, stack 3).
 * Whoever holds the secret in the home acts as the owner.
 */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { withoutTrailing } from '#kernel/trailing.ts'
import type { OAuthRequest } from './oauth-request.ts'

interface LocalTokenAnswer {
  readonly status: number
  readonly body: object
  /** The principal the token is for. */
  readonly principalId?: string
}

/** A managed identity, by one of its three names. */
export interface WantedIdentity {
  readonly kind: 'client' | 'object' | 'resource'
  readonly value: string
}

export interface LocalTokenOptions {
  /** `undefined`, or an empty text, turns the endpoint off. */
  readonly secret: string | undefined
  /** The secret from the address, for clients that send no header. */
  readonly given?: string
  readonly audience: string
  readonly aliases: readonly string[]
  /** Issues a token for the owner, or for the wanted identity; `undefined` when there is no such identity. */
  readonly issue: (wanted: WantedIdentity | undefined) => Promise<
    | {
        readonly principalId: string
        readonly clientId: string
        readonly token: string
        readonly expiresAt: number
        readonly now: number
      }
    | undefined
  >
}

export async function answerLocalToken(
  request: OAuthRequest,
  headers: IncomingHttpHeaders,
  options: LocalTokenOptions,
): Promise<LocalTokenAnswer> {
  if (options.secret === undefined || options.secret === '') {
    return refused(404, 'not_found', 'This installation offers no local identity.')
  }
  if (request.method !== 'GET' && request.method !== 'POST') {
    return refused(405, 'method_not_allowed', 'Use GET or POST.')
  }
  // The newer form sends `x-identity-header`, the older one `secret`. A third form has no header at all.
  const given = headers['x-identity-header'] ?? headers['secret'] ?? options.given
  if (typeof given !== 'string' || !equal(given, options.secret)) {
    const text =
      'The identity header is missing or wrong. A client that sends none can carry the secret as the last segment of the address.'
    return refused(401, 'invalid_client', text)
  }
  const resource = request.query.get('resource') ?? request.form?.get('resource') ?? null
  if (resource === null)
    return refused(400, 'invalid_request', 'The parameter resource is missing.')
  const bare = withoutTrailing(resource, '/')
  const known = [options.audience, ...options.aliases].some((a) => withoutTrailing(a, '/') === bare)
  if (!known) return refused(400, 'invalid_resource', `The resource must be ${options.audience}.`)
  const wanted = wantedIn(request)
  const issued = await options.issue(wanted)
  if (issued === undefined) {
    return wanted === undefined
      ? refused(400, 'invalid_grant', 'There is no owner to act as.')
      : refused(
          400,
          'invalid_request',
          `Identity not found: there is none with that ${wanted.kind} id.`,
        )
  }
  const seconds = Math.floor((issued.expiresAt - issued.now) / 1000)
  return {
    status: 200,
    principalId: issued.principalId,
    body: {
      access_token: issued.token,
      client_id: issued.clientId,
      expires_on: String(Math.floor(issued.expiresAt / 1000)),
      expires_in: String(seconds),
      ext_expires_in: String(seconds),
      not_before: String(Math.floor(issued.now / 1000)),
      resource,
      token_type: 'Bearer',
    },
  }
}

const identityNames: Readonly<Record<string, WantedIdentity['kind']>> = {
  client_id: 'client',
  clientid: 'client',
  object_id: 'object',
  principal_id: 'object',
  mi_res_id: 'resource',
  msi_res_id: 'resource',
}

function wantedIn({ query, form }: OAuthRequest): WantedIdentity | undefined {
  for (const [name, value] of [...query, ...(form ?? [])]) {
    const kind = identityNames[name.toLowerCase()]
    if (kind !== undefined && value !== '') return { kind, value: value.slice(0, 2048) }
  }
  return undefined
}

function refused(status: number, error: string, description: string): LocalTokenAnswer {
  return { status, body: { error, error_description: description } }
}

/** Compares in constant time, whatever the lengths. */
function equal(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(a), hash(b))
}
