/**
 * How the console is served: its page at any depth, its files, its content security policy, and the size of the
 * first view.
 */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Installation, send, startInstallation } from '../e2e/installation.ts'
import { requireOrSkip } from '../require.ts'
import { builtConsole, readBuildSizes } from './build-sizes.ts'

const howToBuild = 'the console is not built: `npm run console`'
/** Bytes of compressed script before the first view can be used. */
const firstViewMax = 250_000

test('a console to serve', (t) => {
  requireOrSkip(t, existsSync(join(builtConsole, 'index.html')), howToBuild)
})

if (existsSync(join(builtConsole, 'index.html'))) describe('serving the console', served)

function served(): void {
  let installation: Installation
  before(async () => {
    installation = await startInstallation()
  })
  after(() => installation[Symbol.asyncDispose]())

  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    send(new URL(path, installation.url), method, { token: null, headers })

  test('a browser at the root is led to it, anything else to the sign-in as before', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml' })
    assert.deepEqual([browser.status, browser.headers.get('location')], [302, 'console/'])
    const program = await get('/', { accept: '*/*' })
    assert.deepEqual([program.status, program.headers.get('location')], [302, 'signed-in'])
    const bare = await get('/console')
    assert.deepEqual([bare.status, bare.headers.get('location')], [302, 'console/'])
  })

  test('the documentation: each page, picture and place that a page leads to is there, and a search finds', async () => {
    assert.equal((await get('/docs')).headers.get('location'), 'docs/')
    const seen = new Map<string, string>()
    const wanted = ['/docs/']
    const places: string[] = []
    for (const path of wanted) {
      if (seen.has(path)) continue
      const { status, text, headers } = await get(path)
      assert.equal(status, 200, path)
      assert.match(
        headers.get('content-security-policy') ?? '',
        /default-src 'none'; style-src 'sha256-/,
      )
      seen.set(path, text)
      if (!String(headers.get('content-type')).startsWith('text/html')) continue
      assert.doesNotMatch(text, /<script|\son\w+=/)
      const links = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link = '']) => link)
      for (const link of links.filter((one) => !/^(?:https?|mailto):/.test(one))) {
        const to = new URL(link, new URL(path, installation.url))
        if (to.pathname.startsWith('/docs/')) wanted.push(to.pathname)
        else assert.equal(to.pathname, '/console/explorer')
        if (to.hash !== '') places.push(to.pathname + to.hash)
      }
    }
    for (const name of ['start', 'guides/testing', 'reference/errors', 'pictures/what-if.png']) {
      assert.ok(seen.has(`/docs/${name}`), name)
    }
    const lacking = places.filter((place) => {
      const [path = '', anchor] = place.split('#', 2)
      return !seen.get(path)?.includes(` id="${anchor}"`)
    })
    assert.deepEqual(lacking, [])
    const found = await get('/docs/search?q=throttled+LIST+%3Cb%3E')
    assert.match(found.text, /0 places with “throttled LIST &lt;b&gt;”/)
    assert.match((await get('/docs/search?q=FIXED+ids')).text, /href="guides\/testing/)
    for (const path of [
      '/docs/internals/glossary',
      '/docs/..%2fpackage',
      '/docs/package/package',
    ]) {
      assert.equal((await get(path)).status, 404, path)
    }
    assert.equal((await get('/docs/start', {}, 'POST')).status, 405)
  })

  test('the page leads back to its files from any depth, and runs no inline script', async () => {
    for (const [path, base] of [
      ['/console/', './'],
      ['/console/resources?view=groups', './'],
      ['/console/resource/subscriptions/a/resourceGroups/b.js', '../../../../'],
    ] as const) {
      const answer = await get(path)
      assert.equal(answer.status, 200)
      assert.ok(answer.text.includes(`<base href="${base}">`), path)
      assert.match(answer.text, /<html data-namespace="Vendor" data-brand="Vendor" lang="en">/)
      assert.doesNotMatch(answer.text, /<script(?![^>]* src=)|\son\w+=|style=/)
      const policy = answer.headers.get('content-security-policy') ?? ''
      assert.match(policy, /default-src 'none'; script-src 'self';/)
      assert.doesNotMatch(policy, /unsafe/)
      assert.equal(answer.headers.get('cache-control'), 'no-cache')
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    }
  })

  test('files are sent compressed and for ever; others do not exist; nothing but GET', async () => {
    const { text } = await get('/console/')
    const [, script = ''] = /src="\.\/(assets\/[^"]+)"/.exec(text) ?? []
    for (const encoding of ['br', 'identity']) {
      const answer = await get(`/console/${script}`, { 'accept-encoding': encoding })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-encoding'), encoding === 'br' ? 'br' : null)
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(answer.headers.get('content-type'), 'text/javascript; charset=utf-8')
      assert.equal(answer.text, readFileSync(join(builtConsole, script), 'utf8'))
    }
    for (const path of ['../index.html', '..%2findex.html', 'none.js', `${script.slice(7)}.br`]) {
      assert.equal(
        (await get(`/console/assets/${path}`)).text.includes('<script'),
        path === '../index.html',
      )
    }
    assert.equal((await get('/console/', {}, 'POST')).status, 405)
    assert.equal((await get('/console/', {}, 'HEAD')).status, 200)
  })

  test('a first view takes at most 250 KB', () => {
    const { firstViewBytes: sum } = readBuildSizes()
    assert.ok(sum > 50_000, `${sum} bytes: is that all of it?`)
    assert.ok(sum <= firstViewMax, `${sum} bytes`)
  })
}
