/** Text from outside never becomes markup. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../tests/property.ts'
import { consentPage } from './consent-page.ts'
import { deviceCodePage } from './device-pages.ts'
import { html } from './html.ts'
import { errorPage } from './message-pages.ts'
import { signInPage } from './sign-in-page.ts'

test('values are escaped, HTML and lists of it are not', () => {
  const item = html`<b>${'<&"\'>'}</b>`
  assert.equal(item.html, '<b>&lt;&amp;&quot;&#39;&gt;</b>')
  assert.equal(
    html`<p>${[item, item]}${undefined}${3}</p>`.html,
    `<p>${item.html}${item.html}3</p>`,
  )
})

test('no text given to a page adds a tag, an attribute or a quote', () => {
  const shape = (body: string): string => body.replace(/nonce="[^"]*"/g, '').replace(/[^<>"]/g, '')
  const pages = (text: string): string[] => [
    signInPage({
      action: text,
      formToken: text,
      application: text,
      signInName: text,
      problem: text,
    }).body,
    consentPage({
      action: text,
      formToken: text,
      application: text,
      clientId: text,
      redirectHost: text,
      signInName: text,
      scopes: [text],
      remembered: true,
    }).body,
    deviceCodePage({ action: text, formToken: text, userCode: text, problem: text }).body,
    errorPage({ status: 400, error: text, description: text }).body,
  ]
  const plain = pages('x').map(shape)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
      assert.deepEqual(pages(text).map(shape), plain)
    }),
  )
  assert.deepEqual(pages('"><script>alert(1)</script>').map(shape), plain)
})
