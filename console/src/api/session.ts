/**
 * Who is signed in. Tokens are kept in the memory of this module and nowhere else. After a reload the session's
 * cookie, which no script can read, gets new ones. See decision 85.
 */

import { apiUrl, consoleBase } from './place.ts'

export interface Person {
  readonly id: string
  readonly name: string
  readonly tenantId: string
}

interface Tokens {
  readonly access: string
  readonly refresh: string | undefined
  /** By the clock of this browser. */
  readonly renewAt: number
}

const clientId = 'armature-console'
const redirect = new URL('signed-in', consoleBase).href
const scope = 'openid profile user_impersonation'
/** A token is renewed this many milliseconds before it expires. */
const early = 120_000

let tokens: Tokens | undefined
/** Of whom this page has asked and shown so far. */
let shown: string | undefined
let renewing: Promise<boolean> | undefined

/** A valid token; `undefined` when nobody is signed in any more. Rejects when the server does not answer. */
export async function accessToken(): Promise<string | undefined> {
  if (renewing === undefined && tokens !== undefined && Date.now() < tokens.renewAt) {
    return tokens.access
  }
  return (await renew()) ? tokens?.access : undefined
}

/** Gets new tokens by the refresh token or by the session of the browser. Concurrent callers share one attempt. */
export function renew(): Promise<boolean> {
  renewing ??= renewOnce().finally(() => {
    renewing = undefined
  })
  return renewing
}

async function renewOnce(): Promise<boolean> {
  const refresh = tokens?.refresh
  if (tokens !== undefined && refresh !== undefined) {
    // It is valid once. Where its answer is lost, the session gets the next tokens.
    tokens = { ...tokens, refresh: undefined }
    if (await redeem({ grant_type: 'refresh_token', refresh_token: refresh })) return true
  }
  if (await signInSilently()) return true
  // Until the server has said so, whoever was signed in is: the page must not say that the session has ended.
  tokens = undefined
  return false
}

/**
 * Asks for a code without a page (`prompt=none`). The answer redirects to a page of this console, so its address can be
 * read here, and no frame is needed.
 */
async function signInSilently(): Promise<boolean> {
  const verifier = randomText()
  const state = randomText()
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const answer = await fetch(
    authorizeUrl({
      state,
      prompt: 'none',
      code_challenge: base64url(new Uint8Array(digest)),
    }),
  )
  requireAnswer(answer)
  const back = new URL(answer.url).searchParams
  const code = back.get('code')
  if (code === null || back.get('state') !== state) return false
  return redeem({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirect,
    code_verifier: verifier,
  })
}

/**
 * Goes to the sign-in page. The code that it returns is not used: by then the browser has a session, and the silent
 * way gets a code whose verifier never left memory.
 */
export function goToSignIn(returnTo: string): void {
  location.assign(authorizeUrl({ state: returnTo, code_challenge: base64url(randomBytes()) }))
}

export function goToSignOut(): void {
  tokens = undefined
  const url = apiUrl('/common/oauth2/logout')
  url.search = new URLSearchParams({
    client_id: clientId,
    post_logout_redirect_uri: consoleBase.href,
  }).toString()
  location.assign(url)
}

export function person(): Person | undefined {
  if (tokens === undefined) return undefined
  const [, payload = ''] = tokens.access.split('.')
  const text = atob(payload.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(text, (one) => one.charCodeAt(0))
  // Our own token, which the server has just signed.
  const claims = JSON.parse(new TextDecoder().decode(bytes)) as Readonly<Record<string, string>>
  return {
    id: claims['oid'] ?? '',
    name: claims['upn'] ?? claims['name'] ?? '',
    tenantId: claims['tid'] ?? '',
  }
}

function authorizeUrl(more: Readonly<Record<string, string>>): URL {
  const url = apiUrl('/common/oauth2/authorize')
  url.search = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirect,
    scope,
    code_challenge_method: 'S256',
    ...more,
  }).toString()
  return url
}

async function redeem(form: Readonly<Record<string, string>>): Promise<boolean> {
  const answer = await fetch(apiUrl('/common/oauth2/token'), {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, ...form }),
  })
  requireAnswer(answer)
  if (!answer.ok) return false
  const got = (await answer.json()) as {
    readonly access_token: string
    readonly refresh_token?: string
    readonly expires_in: number
  }
  tokens = {
    access: got.access_token,
    refresh: got.refresh_token,
    renewAt: Date.now() + Math.max(got.expires_in * 1000 - early, 10_000),
  }
  const { id } = person() ?? {}
  // Somebody else has signed in with this browser. Nothing of this page is asked or written in their name.
  if (shown !== undefined && shown !== id) return beginAnew()
  shown = id
  return true
}

/** Loads the page again. Whoever waits for it goes with the page. */
function beginAnew(): Promise<never> {
  location.reload()
  return new Promise(() => undefined)
}

/** A server that is too busy has not said that there is no session. */
function requireAnswer({ status }: Response): void {
  if (status === 429 || status >= 500) throw new Error(`no answer: ${status}`)
}

function randomBytes(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32))
}

function randomText(): string {
  return base64url(randomBytes())
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
