/** The form for name and password. It never repeats the password and never says which of the two was wrong. */

import { html } from './html.ts'
import { type Page, problem, renderPage } from './layout.ts'

export function signInPage(options: {
  readonly action: string
  readonly formToken: string
  readonly application: string
  readonly signInName: string
  readonly problem?: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}): Page {
  const described =
    options.problem === undefined
      ? undefined
      : html` aria-invalid="true" aria-describedby="problem"`
  const focus = html` autofocus`
  const named = options.signInName !== ''
  return renderPage({
    title: 'Sign in',
    ...(options.status === undefined ? {} : { status: options.status }),
    ...(options.headers === undefined ? {} : { headers: options.headers }),
    content: html`<h1>Sign in</h1>
<p class="soft">to continue to ${options.application}</p>
${problem(options.problem)}
<form method="post" action="${options.action}">
<input type="hidden" name="form" value="${options.formToken}">
<label for="name">Sign-in name</label>
<input type="text" id="name" name="name" value="${options.signInName}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="256" required${described}${named ? undefined : focus}>
<label for="password">Password</label>
<input type="password" id="password" name="password" autocomplete="current-password" maxlength="256" required${described}${named ? focus : undefined}>
<label class="check"><input type="checkbox" name="remember" value="yes"> Keep me signed in on this device</label>
<div class="actions">
<button type="submit" name="do" value="sign-in">Sign in</button>
<button type="submit" name="do" value="cancel" class="plain" formnovalidate>Cancel</button>
</div>
</form>`,
  })
}
