/**
 * The pages of a consent, between a login link and the identity provider's own pages. They show what the flow says
 * and redirect the browser.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { mountPathOf } from '#identity/oauth-request.ts'
import { html } from '#identity/pages/html.ts'
import { type Page, renderPage, securityHeaders } from '#identity/pages/layout.ts'
import type { Log } from '#kernel/ports.ts'
import { receiveAll } from '#kernel/received-bytes.ts'
import type {
  ConsentFlow,
  ConsentPrompt,
  Step,
} from '#providers/api-management/domain/consent/flow.ts'

export const consentPrefix = '/consent'
const loginPrefix = `${consentPrefix}/login/`
const callback = `${consentPrefix}/callback`
/** Where a browser may end that has no page of the caller's to go to. */
const end = `${consentPrefix}/done`
const cookie = 'armature-consent'
const bodyBytesMax = 4096
/** As `flow.ts` makes them: a letter and 32 bytes. */
const consentCodeForm = /^c[\w-]{43}$/

interface ConsentPagesOptions {
  readonly flow: ConsentFlow
  readonly log: Log
  publicUrl(): string
}

export function consentPages(
  options: ConsentPagesOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    void serve(options, request).then(
      (page) => write(response, page),
      (error: unknown) => {
        options.log.error({ error: String(error) }, 'a consent page failed')
        write(response, stopPage('Something went wrong here. Begin again.', 500))
      },
    )
  }
}

async function serve(options: ConsentPagesOptions, request: IncomingMessage): Promise<Page> {
  const url = new URL(request.url ?? '/', 'http://here')
  const { flow } = options
  if (url.pathname === callback && request.method === 'GET') {
    const step = await flow.back({
      state: (url.searchParams.get('state') ?? '').slice(0, 8192),
      code: url.searchParams.get('code')?.slice(0, 8192),
      error: url.searchParams.get('error')?.slice(0, 200),
      kept: (login) => cookieOf(request, login),
    })
    return pageOf(options, step, '')
  }
  if (url.pathname === end && request.method === 'GET') {
    return endPage(url.searchParams.get('consentCode') ?? '')
  }
  if (url.pathname.startsWith(loginPrefix)) {
    const link = url.pathname.slice(loginPrefix.length)
    if (link.length > 8192) return stopPage('This link is not valid.', 400)
    const action = `${mountPathOf(options.publicUrl())}${url.pathname}`
    if (request.method === 'GET') return pageOf(options, await flow.open(link), action)
    if (request.method === 'POST') {
      // A form on another site must not pass the page by.
      if (!isOwnForm(options, request)) {
        return stopPage('This form was not sent from the page of this installation.', 403)
      }
      const choice = new URLSearchParams(await bodyOf(request)).get('do')
      const step = choice === 'continue' ? await flow.proceed(link) : await flow.leave(link)
      return pageOf(options, step, action)
    }
  }
  return stopPage('There is nothing here.', 404)
}

/** Judged by what a browser says of itself, which no page can change. Other programs have no session to abuse. */
function isOwnForm({ publicUrl }: ConsentPagesOptions, { headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin } = headers
  if (origin === undefined) return true
  const given = URL.parse(origin)
  return given?.origin === URL.parse(publicUrl())?.origin || given?.host === headers.host
}

function pageOf(options: ConsentPagesOptions, step: Step, action: string): Page {
  if (step.kind === 'ask') return askPage(step.prompt, action)
  if (step.kind === 'stop') return stopPage(step.reason, 400)
  const secure = options.publicUrl().startsWith('https:') ? '; Secure' : ''
  const kept =
    step.keep === undefined
      ? {}
      : {
          'Set-Cookie': `${cookie}-${step.keep.login}=${step.keep.value}; Path=${mountPathOf(options.publicUrl())}${consentPrefix}; Max-Age=3600; HttpOnly; SameSite=Lax${secure}`,
        }
  return {
    status: 303,
    headers: {
      ...securityHeaders,
      Location: step.to,
      ...kept,
      'Cache-Control': 'no-store',
    },
    body: '',
  }
}

/** The anti-phishing page: who asks, for what, where the sign-in is, and where the browser goes afterwards. */
function askPage(prompt: ConsentPrompt, action: string): Page {
  return renderPage({
    title: 'Before you sign in',
    // With `no-referrer` the form would carry the origin `null`, as a form of any other page can.
    headers: { 'Referrer-Policy': 'same-origin' },
    content: html`<h1>Do you know who sent you this link?</h1>
<p>Somebody who manages the service <strong>${prompt.service}</strong> asks you to sign in, so that the connection <strong>${prompt.authorization}</strong> can act for you.</p>
<dl class="soft">
<dt>Identity provider</dt><dd>${prompt.provider}</dd>
<dt>You sign in at</dt><dd>${prompt.signInHost}</dd>
<dt>Then you go to</dt><dd>${prompt.returnsTo}</dd>
</dl>
<p class="soft">Go on only if you expected this. Check the address of the page you sign in at.</p>
<form method="post" action="${action}">
<div class="actions">
<button type="submit" name="do" value="continue">Continue</button>
<button type="submit" name="do" value="leave" class="plain">Leave</button>
</div>
</form>`,
  })
}

/** Shows nothing but a code: the address may be anybody's, and what stands here seems to be said by this installation. */
function endPage(consentCode: string): Page {
  if (!consentCodeForm.test(consentCode))
    return stopPage('Nobody consented: there is no consent code.', 400)
  return renderPage({
    title: 'You have consented',
    content: html`<h1>You have consented</h1>
<p>Give this code to whoever sent you the link. It is good for five minutes, once.</p>
<p><code>${consentCode}</code></p>
<p class="soft">By command: <code>armature consent confirm</code>, with the name of the authorization and the code.</p>`,
  })
}

function stopPage(reason: string, status: number): Page {
  return renderPage({
    title: 'That did not work',
    status,
    content: html`<h1>That did not work</h1>
<p role="alert">${reason}</p>`,
  })
}

function cookieOf(request: IncomingMessage, login: string): string | undefined {
  const name = `${cookie}-${login}=`
  const found = (request.headers.cookie ?? '')
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(name))
  return found?.slice(name.length)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  return new TextDecoder().decode(await receiveAll(request, bodyBytesMax))
}

function write(response: ServerResponse, page: Page): void {
  response.writeHead(page.status, {
    ...page.headers,
    'Content-Length': Buffer.byteLength(page.body),
  })
  response.end(page.body)
}
