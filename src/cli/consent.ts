/**
 * Shared by the commands of consent: paths, options, and a consent without a browser, for identity providers that
 * are an installation's own sign-in.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { textOf } from '#client/answer.ts'
import { LocalProblem } from './command.ts'
import type { Connection } from './context.ts'
import { type GroupPlace, groupOptions, inGroup } from './group-place.ts'
import { subscriptionOption } from './options.ts'

export const consentVersion = { 'api-version': '2024-05-01' } as const

export const consentOptions = {
  'resource-group': groupOptions['resource-group'],
  service: {
    type: 'string',
    short: 's',
    value: 'name',
    required: true,
    summary: 'The API management service',
  },
  provider: {
    type: 'string',
    short: 'p',
    value: 'name',
    required: true,
    summary: 'The authorization provider',
  },
  ...subscriptionOption,
} as const

export const backOption = {
  'back-to': {
    type: 'string',
    value: 'address',
    summary: 'Where the browser goes with the code; a page of the installation when left out',
  },
} as const

interface ConsentPlace extends GroupPlace {
  readonly service: string
  readonly provider: string
}

export async function authorizationPath(
  connection: Connection,
  place: ConsentPlace,
  name: string,
): Promise<string> {
  const service = await inGroup(connection, place, 'ApiManagement/service', place.service)
  const below = ['authorizationProviders', place.provider, 'authorizations', name]
  return `${service}/${below.map((one) => encodeURIComponent(one)).join('/')}`
}

export async function loginLink(
  connection: Pick<Connection, 'client'>,
  path: string,
  backTo = 'http://127.0.0.1/',
): Promise<string> {
  const answer = await connection.client.request('POST', `${path}/getLoginLinks`, {
    query: consentVersion,
    body: { postLoginRedirectUrl: backTo },
  })
  return textOf(answer.body, 'loginLink') ?? ''
}

export interface Person {
  readonly signInName: string
  readonly password: string
  /** The addresses of the installation that the password is of. */
  readonly at: readonly string[]
}

const pagesMax = 20

/** Follows a login link to its end as that person, and returns the consent code. Throws `LocalProblem`. */
export async function walkConsent(link: string, person: Person): Promise<string> {
  const cookies = new Map<string, Map<string, string>>()
  let url = new URL(link)
  let form: URLSearchParams | undefined
  for (let page = 0; page < pagesMax; page++) {
    const known = cookies.get(url.origin) ?? new Map<string, string>()
    cookies.set(url.origin, known)
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: [...known].map((pair) => pair.join('=')).join('; ') },
      ...(form === undefined ? {} : { body: form }),
    })
    for (const line of response.headers.getSetCookie()) {
      const pair = line.split(';')[0] ?? ''
      const equals = pair.indexOf('=')
      const value = pair.slice(equals + 1)
      if (value === '') known.delete(pair.slice(0, equals))
      else known.set(pair.slice(0, equals), value)
    }
    if (response.status === 429) {
      await sleep(Number(response.headers.get('retry-after') ?? 1) * 1000)
      continue
    }
    const location = response.headers.get('location')
    if (location !== null) {
      url = new URL(location, url)
      form = undefined
      const consentCode = url.searchParams.get('consentCode')
      if (consentCode !== null) return consentCode
      const error = url.searchParams.get('error')
      if (error !== null && !url.pathname.endsWith('/consent/callback')) {
        throw new LocalProblem('ConsentRefused', `The way ended without a code: ${error}.`)
      }
      continue
    }
    const filled = filledForm(await response.text(), url, person)
    url = filled.action
    form = filled.fields
  }
  throw new LocalProblem('ConsentLost', 'The pages lead in a circle.')
}

/** The form of a page with the person's values; undefined for a page without one, where the flow ends. */
function filledForm(page: string, url: URL, { signInName, password, at }: Person) {
  const target = /<form[^>]* action="([^"]*)"/.exec(page)?.[1]
  const problem = /role="alert"[^>]*>([^<]*)</.exec(page)?.[1]
  if (target === undefined || problem !== undefined) {
    const title = /<title>([^<]*)</.exec(page)?.[1] ?? page.slice(0, 200)
    const reason = plainText(problem ?? `${title} (it has no form)`)
    throw new LocalProblem('ConsentStopped', `The way ended at a page: ${reason}`)
  }
  const action = new URL(plainText(target), url)
  const fields = new URLSearchParams()
  for (const [, name = '', value = ''] of page.matchAll(
    /<input type="hidden" name="([^"]*)" value="([^"]*)"/g,
  )) {
    fields.set(name, plainText(value))
  }
  if (/<input type="password"/.test(page)) {
    // Whoever writes the authorization provider chooses both where the way leads and where the form goes.
    for (const one of [url, action]) requireOwn(one, at)
    fields.set('name', signInName)
    fields.set('password', password)
  }
  const button = /<button type="submit" name="do" value="([^"]*)"/.exec(page)?.[1]
  if (button !== undefined) fields.set('do', plainText(button))
  return { action, fields }
}

function requireOwn({ origin }: URL, at: readonly string[]): void {
  if (at.some((one) => new URL(one).origin === origin)) return
  throw new LocalProblem(
    'ConsentElsewhere',
    `The way leads to a sign-in at ${origin}, which the password is not of. If that is right, name the person and give --sign-in-at.`,
  )
}

function plainText(html: string): string {
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
