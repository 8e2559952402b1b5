/** What the published package's threads and workers load when they start: not the server, which is ten times as much. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { bundledLauncher } from '../bundles.ts'

/** The names of the files that a bundle imports, and those import. */
function loadedBy(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  const text = readFileSync(path, 'utf8')
  for (const [, named, alone] of text.matchAll(
    /^(?:import|export)\b[^;"]*\bfrom\s*"(\.[^"]+)"|^import\s*"(\.[^"]+)"/gm,
  )) {
    loadedBy(join(dirname(path), named ?? alone ?? ''), seen)
  }
  return seen
}

test('threads and workers of the package do without the files of a server', async () => {
  const dist = join(dirname(await bundledLauncher()), '..', 'dist')
  const isServer = (path: string): boolean => basename(path).startsWith('server-')
  assert.ok([...loadedBy(join(dist, 'index.js'))].some(isServer), 'a server has a file of its own')
  for (const path of [
    'engines/copy/worker/main.js',
    'engines/databases/postgres/looks/main.js',
    'engines/databases/postgres/worker.js',
    'outbound/tls-thread/main.js',
    'stores/sqlite/scan-thread.js',
    'business/documents/pdf-thread.js',
    'providers/resources/domain/evaluation/thread.js',
    'providers/api-management/domain/openapi/import-thread.js',
  ]) {
    const loaded = [...loadedBy(join(dist, path))]
    assert.ok(loaded.length > 1, path)
    assert.deepEqual(loaded.filter(isServer), [], path)
  }
})

test('threads that may be ended load no zlib, with which the platform ends the whole process', async () => {
  const dist = join(dirname(await bundledLauncher()), '..', 'dist')
  const threads = [
    'providers/resources/domain/evaluation/thread.js',
    'providers/api-management/domain/openapi/import-thread.js',
  ]
  const loadsZlib = (path: string): boolean =>
    [...loadedBy(join(dist, path))].some((one) =>
      /"(?:node:)?zlib"/.test(readFileSync(one, 'utf8')),
    )
  assert.ok(loadsZlib('business/documents/pdf-thread.js'), 'it is made in a process')
  for (const path of threads) assert.equal(loadsZlib(path), false, path)
})
