/**
 * Asks a person the two questions on the way to a token: who are you, and may this application act for you. It
 * shows the pages and reads the answers; the library decides what follows.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Interaction, Provider } from 'oidc-provider'
import type { Clock } from '#kernel/ports.ts'
import type { IdentitySeal } from '#sealing/keyring.ts'
import { type Consents, scopesIn } from './consents.ts'
import type { IdentityDirectory } from './directory.ts'
import type { OAuthRequest } from './oauth-request.ts'
import { consentPage } from './pages/consent-page.ts'
import type { Page } from './pages/layout.ts'
import { errorPage } from './pages/message-pages.ts'
import { signInPage } from './pages/sign-in-page.ts'
import { interactionPath } from './rewrite.ts'
import type { SignIn } from './sign-in.ts'
import { type OnSignIn, triedName } from './sign-in-events.ts'

export type InteractionAnswer =
  | { readonly kind: 'page'; readonly page: Page }
  /** Redirects back to the library by a path of this server. */
  | { readonly kind: 'redirect'; readonly location: string }

export interface InteractionOptions {
  readonly provider: Provider
  readonly directory: IdentityDirectory
  readonly consents: Consents
  readonly signIn: SignIn
  readonly seal: IdentitySeal
  readonly clock: Clock
  readonly onSignIn: OnSignIn
  /** The address group in which failures are counted. */
  readonly address: string
  readonly secureCookies: boolean
}

const outcomes = { welcome: 'succeeded', refused: 'refused', wait: 'delayed' } as const

export async function answerInteraction(
  req: IncomingMessage,
  res: ServerResponse,
  request: OAuthRequest,
  options: InteractionOptions,
): Promise<InteractionAnswer> {
  const { provider } = options
  const interaction = await provider.interactionDetails(req, res)
  const path = `${interactionPath}/${interaction.uid}`
  if (path !== request.path) return refused('The page belongs to another sign-in.')
  const action = `${request.mountPath}${path}`
  const formToken = options.seal.index(
    JSON.stringify(['form', interaction.uid, interaction.prompt.name]),
  )
  if (request.method === 'GET') return show(interaction, action, formToken, options)

  const form = request.form ?? new URLSearchParams()
  // Ids and prompts differ between pages, so a page of an earlier step is not accepted for this one.
  if (form.get('form') !== formToken) {
    return refused('The page is out of date. Go back to the application and start again.')
  }
  const finish = async (result: Record<string, unknown>): Promise<InteractionAnswer> => {
    const returnTo = new URL(await provider.interactionResult(req, res, result))
    // Only the path is used: the browser stays at the address where its cookies are.
    return { kind: 'redirect', location: returnTo.pathname + returnTo.search }
  }
  if (form.get('do') === 'cancel') {
    return finish({ error: 'access_denied', error_description: 'The user did not agree.' })
  }
  switch (interaction.prompt.name) {
    case 'login': {
      const name = form.get('name') ?? ''
      const outcome = await options.signIn.attempt({
        signInName: name.trim(),
        password: form.get('password') ?? '',
        address: options.address,
        knownBrowser: cookieOf(req, knownBrowserCookie),
      })
      options.onSignIn({
        outcome: outcomes[outcome.kind],
        grant: 'password',
        principalId: outcome.kind === 'welcome' ? outcome.user.id : undefined,
        name: triedName(name.trim()),
        clientId: interaction.params['client_id'] ?? '',
        origin: request.origin,
        error: outcome.kind === 'welcome' ? undefined : 'access_denied',
      })
      const again = async (
        problem: string,
        status: number,
        headers?: Readonly<Record<string, string>>,
      ): Promise<InteractionAnswer> => ({
        kind: 'page',
        page: signInPage({
          action,
          formToken,
          application: await applicationName(interaction, provider),
          signInName: name,
          problem,
          status,
          ...(headers === undefined ? {} : { headers }),
        }),
      })
      switch (outcome.kind) {
        case 'welcome':
          rememberBrowser(res, { ...options, ...request }, name.trim())
          return finish({
            login: {
              accountId: outcome.user.id,
              remember: form.get('remember') === 'yes',
              ts: Math.floor(options.clock.now() / 1000),
            },
            // A note for the session that begins when the library continues; see `loadGrant` in provider.ts.
            signIn: { credentialId: outcome.credentialId, origin: request.origin },
          })
        case 'refused':
          return again('The sign-in name or the password is wrong.', 400)
        case 'wait': {
          const seconds = String(outcome.seconds)
          return again(
            `Too many attempts. Wait ${seconds} second${seconds === '1' ? '' : 's'} and try again.`,
            429,
            { 'Retry-After': seconds },
          )
        }
        default:
          return outcome satisfies never
      }
    }
    case 'consent':
      return finish({ consent: { grantId: await allow(interaction, request, options) } })
    default:
      return refused('The page asks for something this server does not know.')
  }
}

const knownBrowserCookie = 'armature_known'
const knownBrowserSeconds = 180 * 24 * 3600

/** Marks this browser, so that failures of others do not delay it. The mark proves nothing else. */
function rememberBrowser(
  res: ServerResponse,
  { signIn, secureCookies, mountPath }: InteractionOptions & Pick<OAuthRequest, 'mountPath'>,
  signInName: string,
): void {
  const value = signIn.knownBrowser(signInName)
  const secure = secureCookies ? '; Secure' : ''
  res.appendHeader(
    'Set-Cookie',
    `${knownBrowserCookie}=${value}; Path=${mountPath}${interactionPath}; Max-Age=${knownBrowserSeconds}; HttpOnly; SameSite=Lax${secure}`,
  )
}

function cookieOf(req: IncomingMessage, name: string): string | undefined {
  return (req.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)
}

async function show(
  interaction: Interaction,
  action: string,
  formToken: string,
  { provider, directory }: InteractionOptions,
): Promise<InteractionAnswer> {
  const application = await applicationName(interaction, provider)
  if (interaction.prompt.name === 'login') {
    const hint = interaction.params['login_hint'] ?? ''
    return {
      kind: 'page',
      page: signInPage({ action, formToken, application, signInName: hint.slice(0, 256) }),
    }
  }
  const user = await directory.record(interaction.session?.accountId ?? '')
  const client = await provider.Client.find(interaction.params['client_id'] ?? '')
  const redirectUri = interaction.params['redirect_uri']
  return {
    kind: 'page',
    page: consentPage({
      action,
      formToken,
      application,
      clientId: interaction.params['client_id'] ?? '',
      redirectHost: redirectUri === undefined ? undefined : new URL(redirectUri).host,
      signInName: user?.signInName ?? '',
      scopes: askedScopes(interaction),
      remembered: client?.applicationType !== 'native',
    }),
  }
}

/** Grants and remembers what was asked for. Returns the grant's id. */
async function allow(
  interaction: Interaction,
  { origin }: OAuthRequest,
  { provider, consents }: InteractionOptions,
): Promise<string> {
  const accountId = interaction.session?.accountId
  const clientId = interaction.params['client_id']
  if (accountId === undefined || clientId === undefined) {
    throw new Error('consent was asked of nobody')
  }
  const existing =
    interaction.grantId === undefined ? undefined : await provider.Grant.find(interaction.grantId)
  const grant = existing ?? new provider.Grant({ accountId, clientId })
  const { missingOIDCScope = [], missingResourceScopes = {} } = interaction.prompt.details
  if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(' '))
  for (const [resource, scopes] of Object.entries(missingResourceScopes)) {
    grant.addResourceScope(resource, scopes.join(' '))
  }
  const scopes = askedScopes(interaction)
  await consents.grant({ principalId: accountId, clientId, scopes, origin })
  return grant.save()
}

/** All scopes, including those allowed before: an application may want the question asked again. */
function askedScopes(interaction: Interaction): readonly string[] {
  const { missingOIDCScope = [], missingResourceScopes = {} } = interaction.prompt.details
  const missing = [...missingOIDCScope, ...Object.values(missingResourceScopes).flat()]
  return [...new Set([...scopesIn(interaction.params['scope'] ?? ''), ...missing])]
}

async function applicationName(interaction: Interaction, provider: Provider): Promise<string> {
  const clientId = interaction.params['client_id'] ?? ''
  const client = await provider.Client.find(clientId)
  return client?.clientName ?? clientId
}

function refused(description: string): InteractionAnswer {
  return {
    kind: 'page',
    page: errorPage({ status: 400, error: 'invalid_request', description }),
  }
}
