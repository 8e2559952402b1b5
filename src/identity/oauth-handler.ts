/**
 * Serves everything under the OAuth routes: the key set, the local token, the pages, and the OAuth library, which
 * is loaded on first use. It answers every request it gets and never throws.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import type { Clock, Ids, Log } from '#kernel/ports.ts'
import type { RequestOrigin } from '#kernel/request-origin.ts'
import type { IdentitySeal } from '#sealing/keyring.ts'
import type { Sql } from '#stores/store.ts'
import { portalClientId } from './clients.ts'
import { type Consents, openConsents } from './consents.ts'
import type { IdentityDirectory } from './directory.ts'
import type { DirectorySql } from './directory-sql.ts'
import type { KeyRing } from './keys.ts'
import type { IdentityLimits } from './limits.ts'
import { answerLocalToken, type LocalTokenOptions } from './local-token.ts'
import {
  type OAuthRequest,
  type ReadOutcome,
  readOAuthRequest,
  toLibraryRequest,
} from './oauth-request.ts'
import {
  type Problem,
  sendError,
  sendFailure,
  sendJson,
  sendMethodNotAllowed,
  sendPage,
} from './oauth-responses.ts'
import { securityHeaders } from './pages/layout.ts'
import { signedInPage } from './pages/signed-in-page.ts'
import {
  instancePath,
  interactionPath,
  localTokenPath,
  localTokenSecretIn,
  resourceScope,
  routes,
  signedInPath,
  userRealmPath,
} from './rewrite.ts'
import { openSessions, type Sessions } from './sessions.ts'
import { createSignIn } from './sign-in.ts'
import { type OnSignIn, triedName } from './sign-in-events.ts'
import type { TokenExchange } from './token-exchange.ts'

export interface OAuthHandlerOptions {
  readonly sql: Sql
  /** For sessions and consents, which are of the directory. */
  readonly directorySql: DirectorySql
  readonly directory: IdentityDirectory
  readonly keys: KeyRing
  readonly clock: Clock
  readonly libraryClock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly seal: IdentitySeal
  readonly limits: IdentityLimits
  readonly tenantId: string
  readonly publicUrl: () => string
  /** The address the caller used. */
  readonly publicUrlOf: (req: IncomingMessage) => string
  readonly audience: () => string
  readonly aliases: () => readonly string[]
  readonly originOf: (req: IncomingMessage) => RequestOrigin
  /** Maps an address to the group in which failures are counted. */
  readonly addressGroupOf: (address: string) => string
  readonly onSignIn: OnSignIn
  readonly exchange: TokenExchange
  readonly localToken: Pick<LocalTokenOptions, 'secret' | 'issue'>
}

/** The values a library instance was built for. A change of either needs a new instance. */
interface Built {
  readonly publicUrl: string
  readonly audience: string
  readonly keyId: string
  /** The cookie keys change when the installation's key is rotated. */
  readonly cookieKeys: string
  readonly provider: Promise<Provider>
}

export type OAuthHandler = (req: IncomingMessage, res: ServerResponse) => void

export function createOAuthHandler(options: OAuthHandlerOptions): OAuthHandler {
  const { clock, directory, keys, limits, log, tenantId, audience, seal } = options
  const consents = openConsents(options.directorySql, clock)
  const sessions = openSessions({ ...options, sql: options.directorySql })
  const signIn = createSignIn(options)
  const library = createLibrary({ ...options, consents, sessions })

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const cameBy = options.publicUrlOf(req)
    const outcome = await readOAuthRequest(req, {
      tenantId,
      formBytesMax: limits.formBytesMax,
      audience: audience(),
      aliases: [...options.aliases(), cameBy],
      nonce: () => options.ids.secret(16),
      originOf: options.originOf,
      publicUrl: cameBy,
    })
    if (outcome.kind === 'request') return answer(req, res, outcome.request)
    sendError(res, problemOf(outcome, tenantId))
  }

  async function answer(
    req: IncomingMessage,
    res: ServerResponse,
    request: OAuthRequest,
  ): Promise<void> {
    const reading = request.method === 'GET' || request.method === 'HEAD'
    if (request.path === routes.jwks && reading) {
      return sendJson(
        res,
        200,
        { keys: await keys.published() },
        {
          'Access-Control-Allow-Origin': '*',
          'Cache-Control': 'public, max-age=60',
        },
      )
    }
    if (request.path === instancePath && reading)
      return sendJson(res, 200, instances(request, tenantId), open)
    if (request.path === userRealmPath && reading)
      return sendJson(res, 200, realm(writtenPath(req)), open)
    if (request.path === localTokenPath) {
      const { status, body } = await localToken(req, request, options)
      return sendJson(res, status, body, { 'Cache-Control': 'no-store' })
    }
    if (request.path === signedInPath) {
      if (!reading) {
        return sendMethodNotAllowed(res, 'GET, HEAD')
      }
      return sendPage(res, signedInPage(signInUrl(request), routes.end_session))
    }
    const exchanged = await options.exchange(request)
    if (exchanged === undefined) return askLibrary(req, res, request)
    const { status, body, event } = exchanged
    const { principalId, clientId } = event
    const name = triedName(principalId ?? clientId)
    const { origin } = request
    options.onSignIn({
      ...event,
      outcome: status === 200 ? 'succeeded' : 'refused',
      ...{ clientId: triedName(clientId), name, origin },
    })
    sendJson(res, status, body, { 'Cache-Control': 'no-store' })
  }

  async function askLibrary(
    req: IncomingMessage,
    res: ServerResponse,
    request: OAuthRequest,
  ): Promise<void> {
    const provider = await library()
    // The code is removed from the redirect address, so that the form shows it instead of submitting it.
    const userCode =
      request.path === routes.code_verification ? request.query.get('user_code') : null
    if (request.method === 'GET' && userCode !== null) request.query.delete('user_code')
    const clone = toLibraryRequest(req, request, {
      'x-armature-user-code': userCode ?? '',
    })
    if (request.path.startsWith(`${interactionPath}/`)) {
      return interact(clone, res, request)
    }
    for (const [name, value] of Object.entries(securityHeaders)) res.setHeader(name, value)
    // The addresses in the document are those the caller used.
    if (request.path.startsWith('/.well-known/')) res.setHeader('Cache-Control', 'no-store')
    await provider.callback()(clone, res)
  }

  async function interact(
    req: IncomingMessage,
    res: ServerResponse,
    request: OAuthRequest,
  ): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'POST') {
      return sendMethodNotAllowed(res, 'GET, POST')
    }
    const { answerInteraction } = await import('./interactions.ts')
    const outcome = await answerInteraction(req, res, request, {
      provider: await library(),
      directory,
      consents,
      signIn,
      seal,
      clock,
      onSignIn: options.onSignIn,
      address: options.addressGroupOf(request.origin.address),
      secureCookies: request.publicUrl.startsWith('https:'),
    })
    if (outcome.kind === 'page') return sendPage(res, outcome.page)
    res.writeHead(303, { ...securityHeaders, Location: outcome.location, 'Content-Length': '0' })
    res.end()
  }

  return (req, res) => {
    serve(req, res).catch((error: unknown) => sendFailure(res, error, log))
  }
}

/** Loads the library on first use, and builds it again when the values it was built for have changed. */
function createLibrary(
  options: OAuthHandlerOptions & { readonly consents: Consents; readonly sessions: Sessions },
): () => Promise<Provider> {
  const { keys, publicUrl, audience, seal } = options
  let built: Built | undefined
  return async () => {
    const key = await keys.active()
    const wanted = {
      publicUrl: publicUrl(),
      audience: audience(),
      keyId: key.keyId,
      cookieKeys: seal.cookieKeys().join(' '),
    }
    if (
      built === undefined ||
      built.keyId !== wanted.keyId ||
      built.publicUrl !== wanted.publicUrl ||
      built.audience !== wanted.audience ||
      built.cookieKeys !== wanted.cookieKeys
    ) {
      const provider = import('./provider.ts').then(({ createProvider }) =>
        createProvider({ ...options, ...wanted, key }),
      )
      const mine: Built = { ...wanted, provider }
      built = mine
      // A failed start must not be the answer to every later request.
      provider.catch(() => {
        if (built === mine) built = undefined
      })
    }
    return built.provider
  }
}

/** The path as the caller wrote it, without the query. */
function writtenPath(req: IncomingMessage): string {
  return (req.url ?? '').split('?')[0] ?? ''
}

/**
 * Answers instance discovery: clients ask it before they trust an address. There is one authority with one name.
 */
function instances({ publicUrl }: OAuthRequest, tenantId: string): object {
  const { host } = new URL(publicUrl)
  return {
    tenant_discovery_endpoint: `${publicUrl}/${tenantId}/v2.0/.well-known/openid-configuration`,
    'api-version': '1.1',
    metadata: [{ preferred_network: host, preferred_cache: host, aliases: [host] }],
  }
}

function signInUrl({ publicUrl, mountPath }: OAuthRequest): string {
  const query = new URLSearchParams({
    response_type: 'token',
    client_id: portalClientId,
    redirect_uri: `${publicUrl}${signedInPath}`,
    scope: resourceScope,
  })
  return `${mountPath}${routes.authorization}?${query}`
}

/** Any page may read these documents; they hold only addresses the caller used. */
const open = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' }

/** Answers user realm discovery: every user signs in here. The answer does not say whether the account exists. */
function realm(path: string): object {
  const name = decoded(path.slice(path.lastIndexOf('/') + 1))
  return { ver: '1.0', account_type: 'Managed', domain_name: name.slice(name.indexOf('@') + 1) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A wrong escape sequence names nobody; the answer is the same for all.
    return ''
  }
}

async function localToken(
  req: IncomingMessage,
  request: OAuthRequest,
  options: OAuthHandlerOptions,
): Promise<{ readonly status: number; readonly body: object }> {
  const inAddress = localTokenSecretIn(writtenPath(req))
  const { status, body, principalId } = await answerLocalToken(request, req.headers, {
    ...options.localToken,
    ...(inAddress === undefined ? {} : { given: inAddress }),
    audience: options.audience(),
    aliases: [...options.aliases(), request.publicUrl],
  })
  const error = 'error' in body ? String(body.error) : undefined
  options.onSignIn({
    outcome: status === 200 ? 'succeeded' : 'refused',
    grant: 'managed_identity',
    principalId,
    name: 'managed identity',
    clientId: '',
    origin: request.origin,
    error,
  })
  return { status, body }
}

function problemOf(outcome: Exclude<ReadOutcome, { kind: 'request' }>, tenantId: string): Problem {
  switch (outcome.kind) {
    case 'unknown':
      return {
        status: 404,
        error: 'not_found',
        description: 'There is nothing at this address.',
      }
    case 'foreign-tenant':
      return {
        status: 400,
        error: 'invalid_tenant',
        description: `There is no tenant '${outcome.tenant}' here. The tenant is ${tenantId}; common, organizations and consumers mean the same.`,
      }
    case 'too-large':
      return {
        status: 413,
        error: 'invalid_request',
        description: 'The request is too large.',
        headers: { Connection: 'close' },
      }
    case 'too-many-parameters':
      return {
        status: 400,
        error: 'invalid_request',
        description: `A request has at most ${outcome.most} parameters.`,
      }
    case 'too-long-parameters':
      return {
        status: 400,
        error: 'invalid_request',
        description: `The parameters of this request have at most ${outcome.most} characters.`,
      }
    default:
      return outcome satisfies never
  }
}
