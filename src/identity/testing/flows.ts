/** The steps most sign-in tests begin with. For tests only. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Browser, Visit } from './browser.ts'
import type { IdentityFixture } from './fixture.ts'

export const alice = { signInName: 'alice', password: 'correct horse battery' }

export async function addAlice(fixture: IdentityFixture): Promise<string> {
  const user = await fixture.identity.directory.createUser({ displayName: 'Alice <A>', ...alice })
  return user.id
}

export async function addApplication(
  fixture: IdentityFixture,
  redirectUris: readonly string[] = [],
): Promise<{ id: string; clientId: string; clientSecret: string }> {
  const { principal, clientSecret } = await fixture.identity.directory.createServicePrincipal({
    displayName: 'Sample application',
    redirectUris,
  })
  assert.ok(principal.clientId !== undefined)
  return { id: principal.id, clientId: principal.clientId, clientSecret }
}

export function authorizeAddress(
  parameters: Readonly<Record<string, string>>,
  route = '/common/oauth2/authorize',
): string {
  return `${route}?${new URLSearchParams(parameters)}`
}

export async function signIn(
  browser: Browser,
  page: Visit,
  who: { readonly signInName: string; readonly password: string } = alice,
): Promise<Visit> {
  assert.match(page.body, /<h1>Sign in<\/h1>/)
  return browser.submit(page, { name: who.signInName, password: who.password, do: 'sign-in' })
}

/** What an application finds in the address it was called back at. */
export function fragmentOf(visit: Visit): URLSearchParams {
  return new URLSearchParams(visit.url.hash.slice(1))
}

export interface TokenAnswer {
  readonly status: number
  readonly headers: Headers
  readonly access_token: string
  readonly refresh_token: string
  readonly error: string | undefined
  readonly [name: string]: unknown
}

export async function askToken(
  fixture: IdentityFixture,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
  route = '/common/oauth2/token',
): Promise<TokenAnswer> {
  const response = await fetch(`${fixture.url}${route}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
  })
  const body: unknown = await response.json()
  assert.ok(typeof body === 'object' && body !== null)
  // The tests assert on the members they read.
  return { ...body, status: response.status, headers: response.headers } as TokenAnswer
}

export function claimsOf(token: string): Record<string, unknown> {
  const payload: unknown = JSON.parse(
    Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'),
  )
  assert.ok(typeof payload === 'object' && payload !== null)
  return payload as Record<string, unknown>
}

export const verifier = 'v'.repeat(43)
export const challenge = createHash('sha256').update(verifier).digest('base64url')
