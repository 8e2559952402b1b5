/**
 * Serves the built console: its page at every address below `/console`, and its hashed files from `assets`. It
 * holds no rights: the page uses the public API with the token of the signed-in person.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { html } from '#identity/pages/html.ts'
import { renderPage, securityHeaders } from '#identity/pages/layout.ts'
import type { VendorWords } from '#kernel/vendor.ts'

export const consolePrefix = '/console'

const folder = join(import.meta.dirname, '..', '..', 'console', 'dist')
const assetsPrefix = `${consolePrefix}/assets/`
/** The number of files of a build that are served. */
const filesMax = 500

/**
 * The hash of an empty style element, which the design system fills rule by rule. No other inline style is allowed.
 */
const emptyStyle = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${emptyStyle}`,
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface File {
  readonly plain: Buffer
  readonly compressed: Buffer
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

/** Whether there is a built console. */
export function hasConsole(): boolean {
  return existsSync(join(folder, 'index.html'))
}

interface Built {
  readonly page: string
  readonly files: ReadonlyMap<string, File>
}

/** The whole build is read at once. A new build changes nothing until the next start. */
function readBuilt(): Built | undefined {
  if (!hasConsole()) return undefined
  const assets = join(folder, 'assets')
  const names = readdirSync(assets).filter((name) => !name.endsWith('.br'))
  const files = names.slice(0, filesMax).map((name): [string, File] => {
    const path = join(assets, name)
    return [name, { plain: readFileSync(path), compressed: readFileSync(`${path}.br`) }]
  })
  return { page: readFileSync(join(folder, 'index.html'), 'utf8'), files: new Map(files) }
}

export function consolePages(
  words: VendorWords,
): (request: IncomingMessage, response: ServerResponse) => void {
  // The build is read at the first request, so that a start does not wait for it.
  let read: { readonly built: Built | undefined } | undefined
  return (request, response) => {
    read ??= { built: readBuilt() }
    const { built } = read
    const { method, headers } = request
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const name = path.startsWith(assetsPrefix) ? path.slice(assetsPrefix.length) : undefined
    const answer =
      method !== 'GET' && method !== 'HEAD'
        ? refusal(405)
        : name !== undefined
          ? asset(path, built?.files.get(name), headers)
          : pageAt(path, built?.page, words)
    response.writeHead(answer.status, {
      ...answer.headers,
      'Content-Length': Buffer.byteLength(answer.body),
    })
    response.end(method === 'HEAD' ? undefined : answer.body)
  }
}

function asset(path: string, file: File | undefined, headers: IncomingMessage['headers']): Answer {
  if (file === undefined) return refusal(404)
  const brotli = /(?:^|[ ,])br(?:[ ,;]|$)/.test(String(headers['accept-encoding'] ?? ''))
  return {
    status: 200,
    headers: {
      ...securityHeaders,
      'Content-Type': typeOf(path),
      // The name contains a hash of the content.
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(brotli ? { 'Content-Encoding': 'br' } : {}),
    },
    body: brotli ? file.compressed : file.plain,
  }
}

function typeOf(path: string): string {
  if (path.endsWith('.js')) return 'text/javascript; charset=utf-8'
  if (path.endsWith('.css')) return 'text/css; charset=utf-8'
  return path.endsWith('.svg') ? 'image/svg+xml' : 'application/octet-stream'
}

/** The page. Its `base` leads back to `/console/` from any depth, so it works behind any prefix. */
function pageAt(path: string, page: string | undefined, words: VendorWords): Answer {
  const depth = path.slice(consolePrefix.length + 1).split('/').length - 1
  const up = depth === 0 ? './' : '../'.repeat(depth)
  if (page === undefined) return notBuilt(path === consolePrefix ? './' : `${up}../`)
  // A relative redirect, since a proxy may have removed a prefix.
  if (path === consolePrefix) {
    return { status: 302, headers: { ...securityHeaders, Location: 'console/' }, body: '' }
  }
  return {
    status: 200,
    headers: {
      ...securityHeaders,
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': policy,
    },
    body: page
      .replace('<head>', `<head>\n<base href="${up}">`)
      .replace('<html ', `<html data-namespace="${words.namespace}" data-brand="${words.brand}" `),
  }
}

/** `root` leads to the root of the installation. */
function notBuilt(root: string): Answer {
  return renderPage({
    title: 'No console',
    status: 404,
    content: html`<h1>The console is not built</h1>
<p>This installation runs from a checkout without development dependencies. Run <code>npm ci</code> there, then start it again.</p>
<p><a href="${root}signed-in">Sign in</a> to get a token for the API.</p>`,
  })
}

function refusal(status: 404 | 405): Answer {
  return {
    status,
    headers: {
      ...securityHeaders,
      'Content-Type': 'text/plain; charset=utf-8',
      ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
    },
    body: status === 405 ? 'Only GET and HEAD.\n' : 'There is no such file.\n',
  }
}
