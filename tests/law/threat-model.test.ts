/**
 * The links of the threat model, and of what attacks tried, lead to existing files, and the words quoted after a link are in the title of a
 * test.
 */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const folder = join(import.meta.dirname, '../../docs/internals')
const pages = ['threat-model.md', 'attacks.md'].map((name) =>
  readFileSync(join(folder, name), 'utf8'),
)

/** What is wrong with the links of a page in `folder`. */
function faultsOf(text: string): readonly string[] {
  // A link to a test, followed by a title or a part of one in quotes.
  const links = /\[[^\]]*\]\(([^)#\s]+)[^)]*\)(?: ?\(?[“"]([^”"]+)[”"])?/g
  return [...text.matchAll(links)].flatMap(([, path = '', title]) => {
    if (/^https?:/.test(path)) return []
    const file = join(folder, path)
    if (!existsSync(file)) return [`${path} is not there`]
    if (title === undefined || !path.endsWith('.ts')) return []
    return titleFault(readFileSync(file, 'utf8'), path, title)
  })
}

/** Dots replace omitted words of a title. */
function titleFault(source: string, path: string, title: string): readonly string[] {
  const parts = plain(title).split(/ ?(?:…|\.\.\.) ?/)
  const isThere = parts.every((part) => plain(source).includes(part))
  return isThere ? [] : [`${path} has no test "${title}"`]
}

/** Quotes and line breaks differ between prose and code. */
function plain(text: string): string {
  return text.replace(/\\?[’'`]/g, "'").replace(/\s+/g, ' ')
}

test('every file and every test that the threat model names is there', () => {
  assert.deepEqual(pages.flatMap(faultsOf), [])
})

test('a file that is not there and a title that no test has are caught', () => {
  const file = '../../tests/law/threat-model.test.ts'
  assert.deepEqual(faultsOf(`[a](${file}) "every file and every test", [b](${file})`), [])
  assert.deepEqual(faultsOf('[a](../nowhere.md)'), ['../nowhere.md is not there'])
  const absent = ['of a', 'long ago'].join(' time ')
  assert.deepEqual(faultsOf(`[a](${file}) ("${absent}")`), [`${file} has no test "${absent}"`])
})
