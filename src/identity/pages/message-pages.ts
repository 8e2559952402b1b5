/** Pages that show a message: an error, and signing out with its question. */

import { html } from './html.ts'
import { type Page, renderPage } from './layout.ts'

export function errorPage(options: {
  readonly status: number
  /** A code of the OAuth standards, or one of ours. */
  readonly error: string
  readonly description: string
  readonly headers?: Readonly<Record<string, string>> | undefined
}): Page {
  return renderPage({
    title: 'That did not work',
    status: options.status,
    ...(options.headers === undefined ? {} : { headers: options.headers }),
    content: html`<h1>That did not work</h1>
<p role="alert">${options.description}</p>
<p class="soft">Code: <code>${options.error}</code></p>
<p class="soft">Go back to the application and start again. If it happens again, tell whoever runs the application.</p>`,
  })
}

export function signOutPage(options: {
  readonly action: string
  readonly formToken: string
}): Page {
  return renderPage({
    title: 'Sign out',
    content: html`<h1>Sign out?</h1>
<p>Applications in this browser lose their access. Command lines and devices stay signed in.</p>
<form method="post" action="${options.action}">
<input type="hidden" name="xsrf" value="${options.formToken}">
<div class="actions">
<button type="submit" name="logout" value="yes" autofocus>Sign out</button>
<button type="submit" class="plain">Stay signed in</button>
</div>
</form>`,
  })
}

export function signedOutPage(): Page {
  return renderPage({
    title: 'Signed out',
    content: html`<h1>Signed out</h1>
<p>You are signed out. You can close this page.</p>`,
  })
}
