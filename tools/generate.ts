/**
 * Writes what is derived from the sources: OpenAPI documents and reference pages. With `--check` it writes
 * nothing and fails when a file differs from what it would write. With `--freeze` it adds what is new to the list
 * of what is released. Fails in every way when something released has changed.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openApiDocuments } from '#plane/openapi.ts'
import { functionCatalogue } from '#template/functions/catalogue.ts'
import { describeSettings } from '../src/config.ts'
import { compatibilityPage } from './generate/compatibility-page.ts'
import { consoleApi } from './generate/console-api.ts'
import { declaredTable } from './generate/declared-table.ts'
import {
  apiVersionsPage,
  errorsPage,
  limitsPage,
  operationsPage,
  settingsPage,
} from './generate/pages.ts'
import {
  compareReleased,
  currentShapes,
  explainFaults,
  freeze,
  readReleased,
  writeReleased,
} from './generate/released.ts'
import { sqliteSchema } from './generate/schema-pages.ts'
import { shrinkingLists } from './generate/shrinking-lists.ts'
import { templateFunctionsPage } from './generate/template-functions-page.ts'

const root = join(import.meta.dirname, '..')
const check = process.argv.includes('--check')

const { registry, routes, words } = declaredTable()
const files = new Map<string, string>()
const documents = openApiDocuments(routes, words)
for (const one of documents) {
  files.set(
    `openapi/${one.namespace}/${one.version}.json`,
    `${JSON.stringify(one.document, undefined, 2)}\n`,
  )
}
files.set(
  'console/src/api/generated.ts',
  consoleApi(JSON.parse(read('console/src/api/operations.json') ?? '{}'), documents),
)
files.set('docs/reference/settings.md', settingsPage(describeSettings()))
files.set('docs/reference/limits.md', limitsPage())
files.set('docs/reference/errors.md', errorsPage(registry))
files.set('docs/reference/operations.md', operationsPage(routes))
files.set('docs/reference/api-versions.md', apiVersionsPage(registry.types))
files.set('docs/reference/compatibility.md', compatibilityPage(join(root, 'tests/conformance')))
files.set('docs/reference/template-functions.md', templateFunctionsPage(functionCatalogue))
for (const [path, text] of shrinkingLists()) files.set(path, text)
files.set('docs/reference/schema.sqlite.sql', await sqliteSchema())
/** Written by tests/law/schemas.test.ts, which has a server. */
const byTests = new Set(['docs/reference/schema.postgres.sql'])

const existing = ['openapi', 'docs/reference'].flatMap(listed)
const stale = existing.filter((path) => !files.has(path) && !byTests.has(path))
const different = [...files].filter(([path, text]) => read(path) !== text).map(([path]) => path)

const releasedPath = 'tests/law/released.json'
const committed = readReleased(read(releasedPath) ?? '{}')
const current = currentShapes(documents, words)
const released = process.argv.includes('--freeze') ? freeze(committed, current) : committed
if (released !== committed) {
  writeFileSync(join(root, releasedPath), writeReleased(released))
  process.stdout.write(`${released.size - committed.size} frozen\n`)
}
const faults = compareReleased(released, current)
process.stderr.write(explainFaults(faults))
if (faults.changed.length + faults.gone.length > 0 || (check && faults.added.length > 0)) {
  process.exitCode = 1
}
if (check) {
  if (stale.length + different.length > 0) {
    process.stderr.write(
      `Generated files differ: ${[...different, ...stale].join(', ')}\nRun \`npm run generate\` and commit what it writes.\n`,
    )
    process.exitCode = 1
  }
} else {
  for (const path of stale) rmSync(join(root, path))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  process.stdout.write(
    `${files.size} files, ${different.length} changed, ${stale.length} removed\n`,
  )
}

function read(path: string): string | undefined {
  const full = join(root, path)
  return existsSync(full) ? readFileSync(full, 'utf8') : undefined
}

function listed(folder: string): readonly string[] {
  const full = join(root, folder)
  if (!existsSync(full)) return []
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
}
