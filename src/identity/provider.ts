/**
 * Configures the OAuth library (oidc-provider 9.13) for this installation: routes, flows, tokens, pages. Loading it
 * takes more than a tenth of a second, so only oauth-handler.ts imports it, on first use.
 */

import type { IncomingMessage } from 'node:http'
import {
  type Client,
  type Context,
  errors,
  type Grant,
  interactionPolicy,
  Provider,
  type Token,
} from 'oidc-provider'
import type { Clock, Log } from '#kernel/ports.ts'
import type { IdentitySeal } from '#sealing/keyring.ts'
import type { Sql } from '#stores/store.ts'
import { createAdapterFactory } from './adapter.ts'
import { completeAnswers, reportOutcomes } from './answers.ts'
import {
  builtInClients,
  consoleClientId,
  consolePath,
  consoleRedirectPath,
  findClient,
  isFirstParty,
  ownPageClients,
  portalClientId,
} from './clients.ts'
import type { Consents } from './consents.ts'
import type { SecretUsed } from './credentials.ts'
import type { IdentityDirectory } from './directory.ts'
import type { ActiveKey } from './keys.ts'
import { createLibraryTime } from './library-time.ts'
import type { IdentityLimits } from './limits.ts'
import { mountPathOf, requestBehind } from './oauth-request.ts'
import { isOfConnection } from './oauth-responses.ts'
import { deviceCodePage, deviceConfirmPage, deviceDonePage } from './pages/device-pages.ts'
import type { Page } from './pages/layout.ts'
import { errorPage, signedOutPage, signOutPage } from './pages/message-pages.ts'
import {
  beginSession,
  endSessions,
  isOver,
  isToRotate,
  sessionOfToken,
} from './provider-sessions.ts'
import {
  bareImplicitMode,
  interactionPath,
  personScopes,
  resourceScope,
  routes,
  signedInPath,
} from './rewrite.ts'
import type { Sessions } from './sessions.ts'
import type { OnSignIn } from './sign-in-events.ts'
import { principalClaims, stepOf } from './token-claims.ts'

export interface ProviderOptions {
  readonly sql: Sql
  readonly directory: IdentityDirectory
  readonly consents: Consents
  readonly clock: Clock
  /** The clock that the library reads. */
  readonly libraryClock: Clock
  readonly log: Log
  readonly seal: IdentitySeal
  readonly limits: IdentityLimits
  readonly tenantId: string
  readonly publicUrl: string
  readonly audience: string
  readonly key: ActiveKey
  readonly onSignIn: OnSignIn
  readonly sessions: Sessions
}

/** oauth-handler.ts puts a code from the address into this header, so that the form shows it for confirmation. */
export const userCodeHeader = 'x-armature-user-code'

export function createProvider(options: ProviderOptions): Provider {
  const { directory, tenantId, publicUrl, audience, key, log, sessions } = options
  /** The secrets by which clients proved who they are. */
  const secretUsed: SecretsUsed = new WeakMap()

  const time = createLibraryTime(options.clock, options.libraryClock)
  const provider = new Provider(publicUrl, {
    adapter: createAdapterFactory({
      ...options,
      time,
      alreadyConsumed: () => new errors.InvalidGrant('used by another request at the same moment'),
      findClient: (clientId) => findClient(directory, clientId),
    }),
    clients: builtInClients(publicUrl),
    jwks: { keys: [key.privateJwk] },
    formats: {
      customizers: {
        jwt(_ctx: Context, _token: Token, { payload }: { payload: Record<string, unknown> }) {
          Object.assign(payload, time.toInstallation(payload))
        },
      },
    },
    // The library fetches nothing for a client or a request.
    fetch: () => Promise.reject(new Error('the sign-in server asks nobody')),
    routes,
    scopes: personScopes,
    claims: { openid: ['sub', 'oid', 'tid'], profile: ['name', 'preferred_username', 'upn'] },
    conformIdTokenClaims: false,
    responseTypes: ['code', 'id_token token', 'id_token'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    cookies: {
      keys: options.seal.cookieKeys(),
      names: {
        session: 'armature_session',
        interaction: 'armature_interaction',
        resume: 'armature_resume',
      },
      // Another application at the same host does not get the session.
      long: { path: mountPathOf(publicUrl) || '/' },
    },
    ttl: lifetimes(options, secretUsed),
    features: features(options),
    pkce: {
      required: (_ctx: Context, client: Client) => client.clientAuthMethod === 'none',
    },
    // A page at a redirect address of the client may also redeem the codes it receives. Our own are at every address.
    clientBasedCORS: (_ctx: Context, origin: string, { clientId, redirectUris }: Client) =>
      redirectUris.some((uri) => new URL(uri).origin === origin) ||
      (ownPageClients.includes(clientId) && new URL(provider.issuer).origin === origin),
    // Clients of this family expect a refresh token without asking for `offline_access`.
    issueRefreshToken: (_ctx: Context, client: Client) => client.grantTypeAllowed('refresh_token'),
    // A command line stays signed in when the browser signs out; an application in the browser does not.
    expiresWithSession: (ctx: Context, source: Token) =>
      ctx.oidc.client?.applicationType !== 'native' && !source.scopes.has('offline_access'),
    rotateRefreshToken: (ctx: Context) => isToRotate(ctx, options.libraryClock),
    interactions: {
      policy: policy(sessions),
      url: (ctx: Context, interaction: { readonly uid: string }) =>
        mounted(ctx, `${interactionPath}/${interaction.uid}`),
    },
    async loadExistingGrant(ctx: Context) {
      await beginSession(ctx, sessions)
      return loadGrant(provider, options.consents, ctx)
    },
    ...accounts(options, secretUsed),
    renderError(ctx: Context, out: { error: string; error_description?: string }) {
      send(
        ctx,
        errorPage({
          status: ctx.status,
          error: out.error,
          description: out.error_description ?? 'The request could not be served.',
        }),
      )
    },
  })

  extendProvider(provider, options, secretUsed)
  provider.use(restartDeviceForm)
  /** The grants that the library revoked while it served a request. */
  const revoked = new WeakMap<Context, string>()
  provider.on('grant.revoked', (ctx, grantId) => revoked.set(ctx, grantId))
  provider.use(endSessions(sessions, revoked))
  provider.use(reportOutcomes(options.onSignIn))
  provider.use(completeAnswers({ audience, aliases: [publicUrl], tenantId }))

  provider.registerResponseMode(bareImplicitMode, (ctx, redirectUri, payload) => {
    // The library's implicit flow requires an id token; the caller did not ask for it.
    const { id_token: _unasked, ...rest } = payload
    const target = new URL(redirectUri)
    target.hash = new URLSearchParams(rest).toString()
    ctx.status = 303
    ctx.redirect(target.href)
  })

  // The handler puts the public address into these headers, and every URL is built from it.
  provider.proxy = true
  provider.on('server_error', (ctx, error) => {
    log.error({ path: ctx.path, error: String(error.stack) }, 'the OAuth server met a fault')
  })
  provider.on('error', (error, ctx) => {
    // The caller left before the answer was there, which is no fault.
    if (ctx.req.socket.destroyed && isOfConnection(error)) return
    log.error({ path: ctx.path, error: String(error.stack) }, 'the OAuth server met a fault')
  })
  return provider
}

type SecretsUsed = WeakMap<IncomingMessage, SecretUsed>

function lifetimes({ limits, clock }: ProviderOptions, secretUsed: SecretsUsed): object {
  /** A token does not outlive the secret that it was got with. */
  const tokenSeconds = ({ req }: Context): number => {
    const left = ((secretUsed.get(req)?.expiresAt ?? Infinity) - clock.now()) / 1000
    return Math.max(1, Math.floor(Math.min(limits.tokenSeconds, left)))
  }
  return {
    AccessToken: tokenSeconds,
    ClientCredentials: tokenSeconds,
    IdToken: limits.tokenSeconds,
    AuthorizationCode: 60,
    DeviceCode: limits.interactionSeconds,
    Interaction: limits.interactionSeconds,
    RefreshToken: limits.sessionSeconds,
    // Of a browser in which nobody signed in it keeps the forms of one page: anybody begins any number of them.
    Session: (_ctx: Context, { accountId }: { readonly accountId?: string }) =>
      accountId === undefined ? limits.interactionSeconds : limits.sessionSeconds,
    // All sessions of a browser with an application share a grant, which must outlast the last of them.
    Grant: 2 * limits.sessionSecondsMax,
  }
}

function features({ limits, audience, key }: ProviderOptions): object {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    userinfo: { enabled: false },
    clientCredentials: { enabled: true },
    revocation: {
      enabled: true,
      // Whoever holds a refresh token may revoke it, but only as the client it was issued to.
      allowedPolicy: (_ctx: Context, client: Client, token: Token) =>
        token.clientId === client.clientId,
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx: Context) =>
        send(
          ctx,
          signOutPage({
            action: mounted(ctx, `${routes.end_session}/confirm`),
            formToken: formToken(ctx),
          }),
        ),
      postLogoutSuccessSource: (ctx: Context) => send(ctx, signedOutPage()),
    },
    // The library would keep what the program says of itself.
    deviceFlow: { enabled: true, deviceInfo: () => undefined, ...devicePages },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      useGrantedResource: () => true,
      getResourceServerInfo(_ctx: Context, resource: string) {
        if (resource !== audience) throw new errors.InvalidTarget()
        return {
          scope: resourceScope,
          audience,
          accessTokenTTL: limits.tokenSeconds,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256', kid: key.keyId } },
        }
      },
    },
  }
}

/**
 * Finds the account of an id and the claims of its tokens. `secretUsed` holds the secrets by which clients proved
 * who they are.
 */
function accounts(
  { directory, tenantId, sessions }: ProviderOptions,
  secretUsed: SecretsUsed,
): object {
  return {
    async findAccount(_ctx: Context, id: string) {
      const user = await directory.record(id)
      if (user?.type !== 'User' || !user.enabled) return undefined
      return {
        accountId: user.id,
        claims: async () => ({
          sub: user.id,
          oid: user.id,
          tid: tenantId,
          name: user.displayName,
          preferred_username: user.signInName,
          upn: user.signInName,
        }),
      }
    },
    async extraTokenClaims(ctx: Context, token: Token) {
      const claims = { clientId: token.clientId, tenantId, scope: token.scope }
      if (token.kind === 'ClientCredentials') {
        const client = await directory.clientPrincipal(token.clientId)
        if (client === undefined) throw new errors.InvalidGrant('the principal is gone')
        return principalClaims(client, { ...claims, credentialId: secretUsed.get(ctx.req)?.id })
      }
      const user = await directory.record(token.accountId ?? '')
      if (user === undefined) throw new errors.InvalidGrant('the principal is gone')
      const session = await sessionOfToken(ctx, token, sessions)
      if (session === undefined) throw new errors.InvalidGrant('the session has ended')
      const { id: sessionId, credentialId } = session
      // The clients of this product are no principals.
      const client = await directory.clientPrincipal(token.clientId)
      const through = client && [stepOf(client, secretUsed.get(ctx.req)?.id)]
      return principalClaims(user, { ...claims, sessionId, credentialId, through })
    },
  }
}

/** Adds what the library has no setting for: the directory's secrets, and several public addresses. */
function extendProvider(
  provider: Provider,
  { directory, publicUrl }: ProviderOptions,
  secretUsed: SecretsUsed,
): void {
  // The directory holds the secrets as hashes, and a principal may have several.
  provider.Client.prototype.compareClientSecret = async function (
    this: { readonly clientId: string },
    actual: string,
  ) {
    const principal = await directory.clientPrincipal(this.clientId)
    const used =
      principal === undefined ? undefined : await directory.verifySecret(principal.id, actual)
    const request = Provider.ctx?.req
    if (used !== undefined && request !== undefined) secretUsed.set(request, used)
    return used !== undefined
  }

  /** The address the caller of the current request used. */
  const cameBy = (): string =>
    (Provider.ctx && requestBehind(Provider.ctx.req))?.publicUrl ?? publicUrl
  Object.defineProperty(provider, 'issuer', { get: cameBy })

  // The portal and the console are served at every address of the installation.
  const { redirectUriAllowed, postLogoutRedirectUriAllowed } = provider.Client.prototype
  provider.Client.prototype.redirectUriAllowed = function (this: Client, uri: string) {
    const isOwn =
      (this.clientId === portalClientId && uri === `${cameBy()}${signedInPath}`) ||
      (this.clientId === consoleClientId && uri === `${cameBy()}${consoleRedirectPath}`)
    return isOwn || redirectUriAllowed.call(this, uri)
  }
  provider.Client.prototype.postLogoutRedirectUriAllowed = function (this: Client, uri: string) {
    const isOwn =
      (this.clientId === portalClientId && uri === `${cameBy()}/`) ||
      (this.clientId === consoleClientId && uri === `${cameBy()}${consolePath}`)
    return isOwn || postLogoutRedirectUriAllowed.call(this, uri)
  }
}

/** Puts a page into the library's answer. */
export function send(ctx: Context, page: Page): void {
  ctx.status = page.status
  for (const [name, value] of Object.entries(page.headers)) ctx.set(name, value)
  ctx.body = page.body
}

/** A path of this server as the browser has to ask for it. */
function mounted({ req }: Context, path: string): string {
  return `${requestBehind(req)?.mountPath ?? ''}${path}`
}

function formToken(ctx: Context): string {
  return ctx.oidc.session?.state?.secret ?? ''
}

/** The library passes these by position: the form, the client, the device, the code. */
type ConfirmArguments = [
  form: string,
  client: { readonly clientId: string; readonly clientName?: string },
  device: unknown,
  userCode: string,
]

/**
 * The library fails on a form from a browser without a session, which never opened the form or whose session has ended, and on
 * the way back to it. The form is opened for it then.
 */
async function restartDeviceForm(ctx: Context, next: () => Promise<void>): Promise<void> {
  try {
    await next()
  } catch (error) {
    const isOfDevices = 'oidc' in ctx && ctx.path.startsWith(routes.code_verification)
    const isForm = ctx.path === routes.code_verification && ctx.req.method === 'GET'
    if (!isOfDevices || isForm || ctx.oidc.session?.exp !== undefined) throw error
    ctx.status = 303
    ctx.redirect(mounted(ctx, routes.code_verification))
  }
}

const devicePages = {
  userCodeInputSource(
    ctx: Context,
    _form: string,
    _out: unknown,
    error: { readonly name: string; readonly userCode?: string } | undefined,
  ) {
    const header = ctx.req.headers[userCodeHeader]
    const text = problemWith(error?.name)
    send(
      ctx,
      deviceCodePage({
        action: mounted(ctx, routes.code_verification),
        formToken: formToken(ctx),
        userCode: error?.userCode ?? (typeof header === 'string' ? header : ''),
        ...(text === undefined ? {} : { problem: text }),
      }),
    )
  },
  userCodeConfirmSource(ctx: Context, ...[, client, , userCode]: ConfirmArguments) {
    send(
      ctx,
      deviceConfirmPage({
        action: mounted(ctx, routes.code_verification),
        formToken: formToken(ctx),
        userCode,
        application: client.clientName ?? client.clientId,
      }),
    )
  },
  successSource(ctx: Context) {
    const { client } = ctx.oidc
    send(ctx, deviceDonePage(client?.clientName ?? client?.clientId ?? 'The application'))
  },
}

function problemWith(errorName: string | undefined): string | undefined {
  switch (errorName) {
    case undefined:
      return undefined
    case 'AbortedError':
      return 'The sign-in was stopped. The device will be told.'
    case 'ExpiredError':
      return 'The code has expired. Start again on the device.'
    case 'AlreadyUsedError':
      return 'The code was used already. Start again on the device.'
    case 'NoCodeError':
    case 'NotFoundError':
      return 'There is no such code. Compare it with the one on the device.'
    default:
      return 'The request could not be served. Start again on the device.'
  }
}

/** A device is confirmed on a page that names it, and has no address to return to. */
function isByDevice(params: Readonly<Record<string, string | undefined>>): boolean {
  return params['redirect_uri'] === undefined
}

/** The library's rules for when to ask the user, with two changes. */
function policy(sessions: Sessions): unknown {
  const rules = interactionPolicy.base()
  const { checks } = rules.get('consent')
  // Any program on the machine can pretend to be a native client, so the person is asked every time (RFC 8252,
  // 8.6). The built-in command line is an exception: the page that asks for the password, or for the device's code,
  // names it already. PKCE does not help when the attacker starts the flow.
  checks.remove('native_client_prompt')
  checks.add(
    new interactionPolicy.Check(
      'public_client',
      'anybody may claim to be this application',
      ({ oidc }) =>
        oidc.client?.applicationType === 'native' &&
        oidc.result?.consent === undefined &&
        !(
          isFirstParty(oidc.client.clientId) &&
          (oidc.result?.login !== undefined || isByDevice(oidc.params))
        ),
    ),
  )
  const { checks: atSignIn } = rules.get('login')
  // The session of a deleted account ends at the next request.
  atSignIn.add(
    new interactionPolicy.Check(
      'account_gone',
      'the account of the session is disabled or deleted',
      (ctx) => ctx.oidc.session?.accountId !== undefined && ctx.oidc.account === undefined,
    ),
  )
  atSignIn.add(
    new interactionPolicy.Check('session_over', 'the session has ended or timed out', (ctx) =>
      isOver(ctx, sessions),
    ),
  )
  return rules
}

/** Returns the grant to continue with: the session's grant or a new one, filled with what was allowed before. */
async function loadGrant(
  provider: Provider,
  consents: Consents,
  ctx: Context,
): Promise<Grant | undefined> {
  const { client, account, session, result } = ctx.oidc
  if (client === undefined || account === undefined) return undefined
  const { clientId } = client
  const grantId = result?.consent?.grantId ?? session?.grantIdFor(clientId)
  const found = grantId === undefined ? undefined : await provider.Grant.find(grantId)
  const mine = found?.accountId === account.accountId && found.clientId === clientId
  const existing = mine ? found : undefined

  const remembered = isFirstParty(clientId)
    ? undefined
    : await consents.granted(account.accountId, clientId)
  const allowed = (scope: string): boolean => remembered?.has(scope) ?? true

  const grant = existing ?? new provider.Grant({ accountId: account.accountId, clientId })
  let changed = false
  const known = new Set(grant.getOIDCScopeEncountered().split(' '))
  for (const scope of ctx.oidc.requestParamOIDCScopes) {
    if (known.has(scope) || !allowed(scope)) continue
    grant.addOIDCScope(scope)
    changed = true
  }
  for (const [resource, { scopes }] of Object.entries(ctx.oidc.resourceServers)) {
    const had = new Set(grant.getResourceScopeEncountered(resource).split(' '))
    for (const scope of ctx.oidc.requestParamScopes) {
      if (had.has(scope) || !scopes.has(scope) || !allowed(scope)) continue
      grant.addResourceScope(resource, scope)
      changed = true
    }
  }
  if (!changed) return existing
  await grant.save()
  return grant
}
