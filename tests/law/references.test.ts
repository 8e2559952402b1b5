/**
 * References stay in the tree: sections of the facts, operations of the contract, links and their anchors. Nothing
 * leads out of the repository.
 */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import { rootDocuments, sourceFiles } from './source.ts'

const root = join(import.meta.dirname, '../..')
const own = 'tests/law/references.test.ts'
const files = [
  ...['src', 'tests', 'tools', 'bench'].flatMap((folder) => sourceFiles(folder)),
  ...['src', 'tests', 'tools', 'bench', 'docs'].flatMap((folder) => sourceFiles(folder, '.md')),
  ...rootDocuments(),
].filter(({ path }) => path !== own)

/** The page, by the word before `facts`. A section that begins with a letter is one of the engines. */
const pages: Readonly<Record<string, string>> = {
  '': 'resource-management',
  business: 'business-application',
  template: 'template-language',
  client: 'clients',
}

/** The anchors of a page's headings. */
function anchorsOf(path: string): ReadonlySet<string> {
  const text = readFileSync(join(root, path), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  return new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** The section numbers of a page: `9`, `9.6`, `A.7`. */
function sectionsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(join(root, `docs/facts/${page}.md`), 'utf8')
  return new Set(
    [...text.matchAll(/^#{2,3} (\d+(?:\.\d+)?|[A-Z](?:\.\d+)?)\b/gm)].map(([, n = '']) => n),
  )
}

const sections = new Map(
  [...Object.values(pages), 'engines'].map((page) => [page, sectionsOf(page)]),
)

const named = /\b(?:(business|template|client)[ \n*/]+)?facts[ \n*/]+((?:\d+|[A-G])(?:\.\d+)?)\b/gi
/** `facts 5.2, 5.3 and 6.1`: the numbers after the first. */
const more = /^(?:(?:,| and| to) ?(\d+\.\d+))+/

/** The references of a text without a target. */
function lost(text: string): readonly string[] {
  return [...text.matchAll(named)].flatMap((found) => {
    const [all, word = '', first = ''] = found
    const page = /^\d/.test(first) ? pages[word.toLowerCase()] : 'engines'
    const known = sections.get(page ?? '')
    const rest = /^\d/.test(first)
      ? (more.exec(text.slice(found.index + all.length))?.[0] ?? '')
      : ''
    const numbers = [first, ...[...rest.matchAll(/\d+\.\d+/g)].map(([number]) => number)]
    return numbers
      .filter((number) => known?.has(number) !== true)
      .map((number) => `${all} (${number})`)
  })
}

/** Pages that say where a thing is. Decisions and the changelog speak of their day. */
function isMap(path: string): boolean {
  return path.endsWith('.md') && !/^(?:CHANGELOG|docs\/(?!internals\/))/.test(path)
}

const sources = ['src', 'tests', 'tools', 'bench', 'console']
  .flatMap((folder) => sourceFiles(folder))
  .map(({ path }) => path)

/** The files that a page names and that are neither below its folder nor at that path of the tree. */
function lostFiles({ path: page, text }: { readonly path: string; readonly text: string }) {
  const folder = page.startsWith('src/') ? `${dirname(page)}/` : ''
  return [...text.matchAll(/`([\w./-]+\.ts)`/g)]
    .map(([, name = '']) => name)
    .filter((name) => {
      const place = name.startsWith('../') ? join(dirname(page), name) : name
      return !sources.some(
        (path) =>
          path === place ||
          path === `src/${place}` ||
          (path.startsWith(folder) && path.endsWith(`/${place}`)),
      )
    })
}

describe('references', () => {
  test('every section of the facts that is named is there', () => {
    let count = 0
    for (const { path, text } of files) {
      assert.deepEqual(lost(text), [], `${path} refers to a section that docs/facts does not have`)
      count += [...text.matchAll(named)].length
    }
    assert.ok(count > 200, `the pattern finds references (${count})`)
  })

  test('every operation of the contract that is named is there', () => {
    const contract = readFileSync(join(root, 'docs/contract/resource-management.md'), 'utf8')
    for (const { path, text } of files) {
      for (const [, number = ''] of text.matchAll(/\bcontract, operation (\d+)/g)) {
        const heading = new RegExp(`^## Operations? (?:\\d and )?${number}\\b`, 'm')
        assert.match(contract, heading, `${path}: the contract has no operation ${number}`)
      }
    }
  })

  test('links with an anchor lead to a heading', () => {
    for (const { path, text } of files.filter((one) => one.path.endsWith('.md'))) {
      for (const [, target = '', anchor = ''] of text.matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)) {
        const page = target === '' ? path : join(dirname(path), target)
        assert.ok(existsSync(join(root, page)), `${path} links to ${target}, which is not there`)
        if (!page.endsWith('.md')) continue
        assert.ok(anchorsOf(page).has(anchor), `${path}: ${target} has no heading #${anchor}`)
      }
    }
  })

  test('files that a page names are there', () => {
    for (const page of files.filter(({ path }) => isMap(path))) {
      assert.deepEqual(lostFiles(page), [], `${page.path} names files that are not there`)
    }
  })

  test('nothing leads out of the repository', () => {
    for (const { path, text } of files) {
      assert.doesNotMatch(
        text,
        /\bhouse section\b|\bhouse(?:-next)?\.md\b/,
        `${path}: write what it says`,
      )
      assert.doesNotMatch(
        text,
        /\.\.\/shared\/|(?<![\w$}'"`])\/work\//,
        `${path} names a place outside`,
      )
      if (!path.endsWith('.md')) continue
      for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)/g)) {
        if (/^[a-z]+:/.test(target)) continue
        const place = normalize(join(dirname(path), target))
        assert.ok(!place.startsWith('..'), `${path} links to ${target}, outside of the repository`)
      }
    }
  })

  test('known-bad examples are caught', () => {
    assert.deepEqual(lost('as facts 9.99 have it'), ['facts 9.99 (9.99)'])
    assert.deepEqual(lost('(facts 5.2, 5.99)'), ['facts 5.2 (5.99)'])
    assert.deepEqual(lost('(facts A.99)'), ['facts A.99 (A.99)'])
    assert.deepEqual(lost('(facts\n * 8.99)'), ['facts\n * 8.99 (8.99)'])
    assert.deepEqual(lost('(business facts 16.1)'), ['business facts 16.1 (16.1)'])
    assert.deepEqual(lostFiles({ path: 'src/http/README.md', text: '`plane.ts`, `throttle.ts`' }), [
      'plane.ts',
    ])
    assert.deepEqual(lost('(facts 9.6), business facts 5.8, template facts 5, facts A.7, 14'), [])
  })
})

/** The decisions that a text for users names: in a string of the sources, or anywhere in a document. */
function decisionsIn({ path, text }: { readonly path: string; readonly text: string }) {
  const texts = path.endsWith('.json')
    ? [text]
    : (text.match(/'[^'\n]*'|`[^`\n]*`|"[^"\n]*"/g) ?? [])
  // A comment may have an apostrophe, and a line of it is no string.
  const shown = texts.filter((one) => !/^.(?:s|re|ve|t)\b/.test(one))
  return shown.flatMap((one) => one.match(/\b(?:decision|issue) ?\d{1,4}\b/gi) ?? [])
}

test('what users read in documents and texts names no decision: it says what it means', () => {
  const shown = [
    ...sourceFiles('openapi', '.json'),
    ...sourceFiles('console/src'),
    ...sourceFiles('src'),
  ]
  const found = shown
    .filter(({ isTest }) => !isTest)
    .flatMap((one) => decisionsIn(one).map((named) => `${one.path}: ${named}`))
  assert.deepEqual(found, [])
  const text = "description: 'There are none (decision 0168)', // what it's for (decision 12)"
  assert.deepEqual(decisionsIn({ path: 'a.ts', text }), ['decision 0168'])
  assert.deepEqual(decisionsIn({ path: 'a.json', text: '"There are none (decision 0168)"' }), [
    'decision 0168',
  ])
})

test('src/cli/README.md names each of its files, and no other', () => {
  const page = readFileSync(join(root, 'src/cli/README.md'), 'utf8')
  const [, table = ''] = page.split('## Files')
  const named = [...table.matchAll(/`([\w-]+\.ts)`/g)].map(([, name]) => name)
  const there = sourceFiles('src/cli')
    .filter(({ path, isTest }) => !isTest && path.split('/').length === 3)
    .map(({ path }) => path.slice('src/cli/'.length))
  assert.deepEqual(named.sort(), there)
})
