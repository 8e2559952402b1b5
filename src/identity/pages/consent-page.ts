/**
 * The page that asks a signed-in person whether an application may act for them. It describes the scopes in words.
 */

import { html } from './html.ts'
import { type Page, renderPage } from './layout.ts'

const words: ReadonlyMap<string, string> = new Map([
  ['user_impersonation', 'Manage resources here as you, with all the permissions you have'],
  ['openid', 'Know who you are'],
  ['profile', 'See your name and sign-in name'],
  ['offline_access', 'Stay signed in until you sign out or change your password'],
])

export function consentPage(options: {
  readonly action: string
  readonly formToken: string
  readonly application: string
  readonly clientId: string
  readonly redirectHost: string | undefined
  readonly signInName: string
  readonly scopes: readonly string[]
  /**
   * Whether the answer is remembered. For a client that anybody can pretend to be, the question comes every time.
   */
  readonly remembered: boolean
}): Page {
  return renderPage({
    title: 'Allow access',
    content: html`<h1>Allow ${options.application}?</h1>
<p>You are signed in as <strong>${options.signInName}</strong>. The application asks to:</p>
<ul>${options.scopes.map((scope) => html`<li>${words.get(scope) ?? scope}</li>`)}</ul>
<dl class="soft">
<dt>Application id</dt><dd><code>${options.clientId}</code></dd>
${options.redirectHost === undefined ? undefined : html`<dt>Returns to</dt><dd>${options.redirectHost}</dd>`}
</dl>
<p class="soft">${options.remembered ? 'Allow it only if you know who runs it. Your answer is remembered.' : 'Allow it only if you have just started it yourself. Any program could use this name.'}</p>
<form method="post" action="${options.action}">
<input type="hidden" name="form" value="${options.formToken}">
<div class="actions">
<button type="submit" name="do" value="allow">Allow</button>
<button type="submit" name="do" value="cancel" class="plain">Deny</button>
</div>
</form>`,
  })
}
