/**
 * The page where the implicit flow ends in a browser. It shows who signed in and the token. Browsers never send the
 * address fragment that holds the token; the page removes it from the address. Of the other words there a code alone is shown:
 * they may be anybody's, and what stands here seems to be said by this installation.
 */

import { html } from './html.ts'
import { type Page, renderPage } from './layout.ts'

const script = `
'use strict';
const given = new URLSearchParams(location.hash.slice(1));
const show = (id) => { document.getElementById(id).hidden = false; };
const put = (id, text) => { document.getElementById(id).textContent = text; };
const token = given.get('access_token');
if (location.hash !== '') history.replaceState(null, '', location.pathname);
if (token) {
  try {
    const part = token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/');
    const bytes = Uint8Array.from(atob(part), (c) => c.charCodeAt(0));
    const claims = JSON.parse(new TextDecoder().decode(bytes));
    put('who', claims.upn || claims.name || claims.oid || '');
    put('oid', claims.oid || '');
    put('until', new Date(claims.exp * 1000).toLocaleString());
  } catch { put('who', 'unknown'); }
  document.getElementById('token').value = token;
  document.title = document.title.replace('Sign in', 'Signed in');
  show('yes');
} else if (given.get('error')) {
  if (/^[a-z_]{1,40}$/.test(given.get('error'))) put('error', given.get('error'));
  show('failed'); show('start');
} else { show('start'); }
document.getElementById('copy').addEventListener('click', async () => {
  const field = document.getElementById('token');
  field.select();
  try { await navigator.clipboard.writeText(field.value); } catch { document.execCommand('copy'); }
  put('copied', 'Copied.');
});
`

/** `signInUrl` begins the implicit flow that ends here. */
export function signedInPage(signInUrl: string, signOutUrl: string): Page {
  return renderPage({
    title: 'Sign in',
    script,
    wide: true,
    content: html`<noscript><h1>Signed in</h1><p>Without scripts this page cannot show your token. It is in the address, after <code>access_token=</code>.</p></noscript>
<section id="failed" hidden>
<h1>Not signed in</h1>
<div class="problem" role="alert">The sign-in did not succeed. <code id="error"></code></div>
</section>
<section id="start" hidden>
<h1>Sign in</h1>
<p>Sign in to get an access token for this installation.</p>
<div class="actions"><a class="button" href="${signInUrl}">Sign in</a></div>
</section>
<section id="yes" hidden>
<h1>You are signed in</h1>
<dl><dt>Account</dt><dd id="who"></dd><dt>Object id</dt><dd><code id="oid"></code></dd><dt>Good until</dt><dd id="until"></dd></dl>
<label for="token">Access token</label>
<textarea id="token" readonly spellcheck="false"></textarea>
<div class="actions"><button type="button" id="copy">Copy the token</button> <a href="${signOutUrl}">Sign out</a> <span id="copied" role="status"></span></div>
<p class="soft">Send it as <code>Authorization: Bearer …</code>. Whoever has it can act as you until it expires.</p>
</section>`,
  })
}
