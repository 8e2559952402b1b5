/**
 * Serves the guides and the reference that come with the package as pages below `/docs`, with a search. They hold
 * nothing of the installation, so everybody may read them. No script runs in them.
 */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, join, posix } from 'node:path'
import { type Html, html, trusted } from '#identity/pages/html.ts'
import { securityHeaders } from '#identity/pages/layout.ts'
import type { Log } from '#kernel/ports.ts'
import { nextTurn } from '#plane/next-turn.ts'

export const documentationPrefix = '/docs'

const root = join(import.meta.dirname, '..', '..')
const picturesFolder = 'docs/pictures'
const hitsMax = 40
const queryCharactersMax = 200
const wordsMax = 8
const excerptCharacters = 240

const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5a6675; --paper: #fffdf9; --line: #d9d4ca; --accent: #0b6b61; --code: #f3f1ec; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --soft: #a3acb8; --paper: #14181d; --line: #39424d; --accent: #5cc8b8; --code: #1d232a; } }
body { margin: 0 auto; max-width: 64rem; padding: 1rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", sans-serif; }
a { color: var(--accent); } .soft { color: var(--soft); }
nav { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; border-bottom: 1px solid var(--line); padding-bottom: .75rem; }
nav form { margin-left: auto; }
input { font: inherit; color: inherit; background: transparent; border: 1px solid var(--soft); border-radius: .4rem; padding: .3rem .6rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code, pre { font: .9em/1.5 ui-monospace, monospace; background: var(--code); border-radius: .3rem; }
code { padding: .1em .3em; overflow-wrap: anywhere; } pre { padding: .8rem 1rem; overflow-x: auto; } pre code { padding: 0; overflow-wrap: normal; }
table { display: block; overflow-x: auto; border-collapse: collapse; } th, td { text-align: left; vertical-align: top; border: 1px solid var(--line); padding: .35rem .6rem; }
img { max-width: 100%; border: 1px solid var(--line); }
`
const styleHash = createHash('sha256').update(style).digest('base64')
const headers: Readonly<Record<string, string>> = {
  ...securityHeaders,
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}

interface Section {
  readonly heading: string
  readonly anchor: string
  readonly text: string
  readonly lowerCase: string
}

interface Page {
  /** Below `/docs/`, without `.md`. */
  readonly name: string
  /** In the package. */
  readonly path: string
  readonly title: string
  readonly text: string
  readonly sections: readonly Section[]
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

export function documentationPages(
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => void {
  // Read at the first request, so that a start does not wait for it.
  let reading: Promise<ReadonlyMap<string, Page>> | undefined
  // A page is made once: long ones take some of the time of all requests. All answers share its bytes.
  const made = new Map<string, Promise<Answer>>()

  async function answerTo(url: string): Promise<Answer> {
    reading ??= readPages()
    const pages = await reading
    const [path = '', query = ''] = url.split('?', 2)
    // A relative redirect, since a proxy may have removed a prefix.
    if (path === documentationPrefix) {
      return { status: 302, headers: { ...headers, Location: 'docs/' }, body: '' }
    }
    const name = path.slice(documentationPrefix.length + 1)
    if (name === '') return framed(name, 'Documentation', listOf([...pages.values()]))
    if (name === 'search') {
      const words = (new URLSearchParams(query).get('q') ?? '').slice(0, queryCharactersMax)
      // All pages are looked through, and others come in between.
      await nextTurn()
      return framed(name, 'Search', hitsOf([...pages.values()], words), words)
    }
    const picture = /^pictures\/([\w-]+\.png)$/.exec(name)?.[1]
    if (picture !== undefined) {
      const answer = made.get(name) ?? pictureNamed(picture)
      if (answer !== undefined) made.set(name, answer)
      return answer ?? refusal(404)
    }
    const page = pages.get(name)
    if (page === undefined) return refusal(404)
    const answer =
      made.get(name) ??
      render(page, pages).then((content) => framed(name, page.title, trusted(content)))
    made.set(name, answer)
    return answer
  }

  return ({ method, url = '' }, response) => {
    const send = ({ status, headers, body }: Answer): void => {
      response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) })
      response.end(method === 'HEAD' ? undefined : body)
    }
    if (method !== 'GET' && method !== 'HEAD') return send(refusal(405))
    answerTo(url).then(send, (error: unknown) => {
      log.error({ error }, 'a page of the documentation failed')
      send(refusal(500))
    })
  }
}

/** The pages of the package. A checkout has more papers, about how it is built. */
async function readPages(): Promise<ReadonlyMap<string, Page>> {
  const below = (folder: string): readonly string[] =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
          .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
          .filter((path) => path.endsWith('.md'))
          .sort()
      : []
  const paths = [
    ...['README.md', 'docs/start.md', ...below('docs/guides'), ...below('docs/reference')],
    ...below('deploy'),
    ...below('src').filter((path) =>
      /^src\/(?:business|providers\/[\w-]+)\/README\.md$/.test(path),
    ),
    ...['src/engines/databases/README.md', 'SECURITY.md', 'CHANGELOG.md'],
  ].filter((path) => existsSync(join(root, path)))
  const pages: Page[] = []
  for (const path of paths) pages.push(await readPage(path))
  return new Map(pages.map((page) => [page.name, page]))
}

async function readPage(path: string): Promise<Page> {
  const text = await readFile(join(root, path), 'utf8')
  const chunks = text.split(/^(?=#{1,4} )/m)
  const sections = chunks.map((part) => {
    const heading = /^#{1,4} (.*)/.exec(part)?.[1] ?? ''
    return { heading, anchor: anchorOf(heading), text: part, lowerCase: part.toLowerCase() }
  })
  const title = sections.find(({ heading }) => heading !== '')?.heading.replaceAll('`', '') ?? path
  return { name: nameOf(path), path, title, text, sections }
}

function nameOf(path: string): string {
  return (path.startsWith('docs/') ? path.slice(5) : `package/${path}`).replace(/\.md$/, '')
}

/** As other programs that show such pages make them, since the pages link to each other's. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

/** The way from one page to another below `/docs/`. */
function wayTo(from: string, to: string): string {
  return posix.relative(posix.dirname(`/${from}`), `/${to}`) || '.'
}

async function render(page: Page, pages: ReadonlyMap<string, Page>): Promise<string> {
  const { Marked } = await import('marked')
  const hrefOf = (href: string): string | undefined => {
    if (/^(?:[a-z]+:|#)/.test(href)) return href
    const [path = '', fragment] = href.split('#', 2)
    const target = posix.join(dirname(page.path), path)
    const name = target.startsWith(picturesFolder) ? target.slice(5) : nameOf(target)
    const isThere = name.startsWith('pictures/') || pages.has(name)
    if (!isThere) return undefined
    return wayTo(page.name, name) + (fragment === undefined ? '' : `#${fragment}`)
  }
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens)
        const way = hrefOf(href)
        return way === undefined ? text : html`<a href="${way}">${trusted(text)}</a>`.html
      },
      image: ({ href, text }) => html`<img src="${hrefOf(href) ?? ''}" alt="${text}">`.html,
    },
  })
  return marked.parse(page.text, { async: false })
}

function listOf(pages: readonly Page[]): Html {
  const groups = [
    ['Begin', (name: string) => /^(?:start|package\/README)$/.test(name)],
    ['Guides', (name: string) => name.startsWith('guides/')],
    ['Reference', (name: string) => name.startsWith('reference/')],
    ['What is supported, area by area', (name: string) => name.startsWith('package/src/')],
    [
      'The package',
      (name: string) => /^package\/(?!src\/)/.test(name) && name !== 'package/README',
    ],
  ] as const
  return html`<h1>Documentation</h1>
<p>Of this version, served by your own installation. Every operation can be tried in the <a href="../console/explorer">explorer</a>.</p>
${groups.map(
  ([title, belongs]) => html`<h2>${title}</h2>
<ul>${pages
    .filter(({ name }) => belongs(name))
    .map(({ name, title }) => html`<li><a href="${wayTo('', name)}">${title}</a></li>`)}</ul>`,
)}`
}

function hitsOf(pages: readonly Page[], query: string): Html {
  const all = query.toLowerCase().split(/\s+/).filter(Boolean)
  const words = [...new Set(all)].slice(0, wordsMax)
  const found = pages
    .flatMap((page) => page.sections.map((section) => ({ page, section })))
    .filter(({ section }) => {
      return words.length > 0 && words.every((word) => section.lowerCase.includes(word))
    })
  const isNamed = ({ section }: { readonly section: Section }): boolean =>
    words.every((word) => section.heading.toLowerCase().includes(word))
  const hits = [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))]
  return html`<h1>${hits.length} places with “${query}”</h1>
${hits
  .slice(0, hitsMax)
  .map(
    ({ page, section }) =>
      html`<p><a href="${wayTo('search', page.name)}#${section.anchor}">${page.title}${
        section.heading === page.title ? '' : ` – ${section.heading}`
      }</a><br><span class="soft">${excerptOf(section, words[0] ?? '')}</span></p>`,
  )}`
}

function excerptOf({ text, lowerCase }: Section, word: string): string {
  const at = Math.max(0, lowerCase.indexOf(word) - excerptCharacters / 2)
  return text.slice(at, at + excerptCharacters)
}

function framed(name: string, title: string, content: Html, query = ''): Answer {
  const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Armature</title>
<style>${trusted(style)}</style>
</head>
<body>
<nav><a href="${name === '' ? './' : `${wayTo(name, '')}/`}">Documentation</a>
<form action="${wayTo(name, 'search')}"><input type="search" name="q" aria-label="Search" placeholder="Search" value="${query}"></form></nav>
<main>
${content}
</main>
</body>
</html>
`.html
  return {
    status: 200,
    headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' },
    body: Buffer.from(body),
  }
}

/** Undefined where there is none. */
function pictureNamed(name: string): Promise<Answer> | undefined {
  const path = join(root, picturesFolder, name)
  if (!existsSync(path)) return undefined
  return readFile(path).then((body) => {
    return { status: 200, headers: { ...headers, 'Content-Type': 'image/png' }, body }
  })
}

const refusals = {
  404: 'There is no such page.\n',
  405: 'Only GET and HEAD.\n',
  500: 'This page cannot be shown.\n',
} as const

function refusal(status: keyof typeof refusals): Answer {
  return {
    status,
    headers: {
      ...headers,
      'Content-Type': 'text/plain; charset=utf-8',
      ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
    },
    body: refusals[status],
  }
}
