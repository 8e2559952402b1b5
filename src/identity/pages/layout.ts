/** The frame of every page: one style, no foreign resources, and the headers that enforce both. */

import { randomBytes } from 'node:crypto'
import { type Html, html, trusted } from './html.ts'

export interface Page {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface PageContent {
  readonly title: string
  readonly content: Html
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Our own script, for the one page that needs one. */
  readonly script?: string
}

const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5a6675; --paper: #f3f1ec; --card: #fffdf9;
  --line: #d9d4ca; --accent: #0b6b61; --on-accent: #ffffff; --bad: #9d2b1f; --bad-paper: #fbeae6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --soft: #a3acb8; --paper: #14181d;
  --card: #1d232a; --line: #39424d; --accent: #5cc8b8; --on-accent: #0c1f1c; --bad: #ffb4a6; --bad-paper: #3a201c; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; grid-template-rows: 1fr auto; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { width: min(26rem, 100% - 2rem); margin: 8vh auto 2rem; align-self: start; }
main.wide { width: min(44rem, 100% - 2rem); }
.mark { display: flex; align-items: center; gap: .6rem; margin-bottom: 1rem; font-weight: 650; letter-spacing: .02em; }
.mark svg { width: 1.6rem; height: 1.6rem; color: var(--accent); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.75rem; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .5rem; } h1 + dl { margin-top: 1rem; }
p { margin: 0 0 1rem; } .soft { color: var(--soft); }
label { display: block; font-weight: 600; margin: 1rem 0 .3rem; }
label.check { display: flex; gap: .5rem; align-items: baseline; font-weight: 400; }
input[type=text], input[type=password], textarea { width: 100%; padding: .6rem .7rem; font: inherit;
  color: inherit; background: transparent; border: 1px solid var(--soft); border-radius: .4rem; }
input.code, code.code { font-family: ui-monospace, monospace; font-size: 1.3rem; letter-spacing: .15em; text-transform: uppercase; }
textarea { font: .8rem/1.4 ui-monospace, monospace; min-height: 9rem; word-break: break-all; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; align-items: center; }
.actions + p { margin: 1rem 0 0; }
button, a.button { font: inherit; font-weight: 600; padding: .6rem 1.2rem; border-radius: .4rem; cursor: pointer;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); text-decoration: none; }
button.plain { background: transparent; color: inherit; border-color: var(--line); }
.problem { background: var(--bad-paper); color: var(--bad); border-left: .25rem solid var(--bad);
  padding: .7rem .9rem; border-radius: .25rem; margin: 0 0 1rem; }
ul { padding-left: 1.2rem; margin: 0 0 1rem; } code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: 0 0 1rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
footer { text-align: center; color: var(--soft); font-size: .85rem; padding: 1rem; }
[hidden] { display: none !important; }
`

const mark = trusted(
  '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">' +
    '<path d="M4 20 12 4l8 16M7.5 13h9M4 20h16"/></svg>',
)

/** These headers are sent with every answer of the OAuth routes. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

export function renderPage(page: PageContent & { readonly wide?: boolean }): Page {
  const nonce = randomBytes(16).toString('base64')
  const script = page.script
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title} · Armature</title>
<style nonce="${nonce}">${trusted(style)}</style>
</head>
<body>
<main${page.wide === true ? html` class="wide"` : undefined}>
<div class="mark">${mark}<span>Armature</span></div>
<div class="card">
${page.content}
</div>
</main>
<footer>This page is served by your own installation.</footer>
${script === undefined ? undefined : html`<script nonce="${nonce}">${trusted(script)}</script>`}
</body>
</html>
`
  // `form-action` is left out: browsers apply it to the redirect that answers a form, which leads to the
  // application.
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    ...(script === undefined ? [] : [`script-src 'nonce-${nonce}'`]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    status: page.status ?? 200,
    headers: {
      ...securityHeaders,
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': policy.join('; '),
      ...page.headers,
    },
    body: document.html,
  }
}

/** The error message, placed where screen readers and eyes find it first. */
export function problem(text: string | undefined): Html | undefined {
  return text === undefined
    ? undefined
    : html`<div class="problem" role="alert" id="problem">${text}</div>`
}
