/** The pages of the device code flow: enter the code, confirm it, done. */

import { html } from './html.ts'
import { type Page, problem, renderPage } from './layout.ts'

export function deviceCodePage(options: {
  readonly action: string
  readonly formToken: string
  readonly userCode: string
  readonly problem?: string
}): Page {
  return renderPage({
    title: 'Connect a device',
    content: html`<h1>Connect a device</h1>
<p class="soft">Enter the code that the device or the command line shows.</p>
${problem(options.problem)}
<form method="post" action="${options.action}">
<input type="hidden" name="xsrf" value="${options.formToken}">
<label for="code">Code</label>
<input type="text" class="code" id="code" name="user_code" value="${options.userCode}" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="32" placeholder="XXXX-XXXX" required autofocus${options.problem === undefined ? undefined : html` aria-invalid="true" aria-describedby="problem"`}>
<div class="actions"><button type="submit">Continue</button></div>
</form>`,
  })
}

export function deviceConfirmPage(options: {
  readonly action: string
  readonly formToken: string
  readonly userCode: string
  readonly application: string
}): Page {
  return renderPage({
    title: 'Confirm the device',
    content: html`<h1>Is this your device?</h1>
<p><strong>${options.application}</strong> asks to sign in as you. It must show this code at this moment:</p>
<p><code class="code">${options.userCode}</code></p>
<p class="soft">If somebody sent you the code, or nothing of yours shows it, do not go on.</p>
<form method="post" action="${options.action}">
<input type="hidden" name="xsrf" value="${options.formToken}">
<input type="hidden" name="user_code" value="${options.userCode}">
<input type="hidden" name="confirm" value="yes">
<div class="actions">
<button type="submit">Yes, continue</button>
<button type="submit" name="abort" value="yes" class="plain">No, stop</button>
</div>
</form>`,
  })
}

export function deviceDonePage(application: string): Page {
  return renderPage({
    title: 'Device connected',
    content: html`<h1>The device is connected</h1>
<p><strong>${application}</strong> is signed in. You can close this page.</p>`,
  })
}
