/** The tiers of the tests (decision 0324): each test file is of exactly one, by its name, and CI runs both. */

import assert from 'node:assert/strict'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import manifest from '../../package.json' with { type: 'json' }
import { isWide } from '../tiers.ts'
import { sourceFiles } from './source.ts'

const root = join(import.meta.dirname, '../..')

/** The files below a folder that the patterns of a script name. */
function filesOf(script: keyof typeof manifest.scripts, folder: string): readonly string[] {
  const patterns = manifest.scripts[script].match(/(?<=")[^"]+\.test\.ts(?=")/g) ?? []
  const exclude = ['**/node_modules/**']
  return patterns.flatMap((pattern) => globSync(pattern, { cwd: folder, exclude })).sort()
}

/** Those of the ordinary and of the wide tier, and of the long suite. */
const tiersOf = (folder: string) =>
  [
    filesOf('test:files', folder),
    filesOf('test:wide', folder),
    filesOf('test:long', folder),
  ] as const

test('each test file is of one tier, by its name, and the long suite has them all', () => {
  const [ordinary, wide, all] = tiersOf(root)
  assert.ok(ordinary.length > 100 && wide.length > 10, `${ordinary.length} and ${wide.length}`)
  assert.deepEqual([...ordinary, ...wide].sort(), all)
  assert.deepEqual(all.filter(isWide), wide)
  const there = ['src', 'tests', 'tools', 'bench', 'console'].flatMap((folder) =>
    sourceFiles(folder),
  )
  const tests = there.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'))
  assert.deepEqual(tests.sort(), all)
})

test('the names decide: a file that is named otherwise is of the other tier', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-tiers-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'src/kernel'), { recursive: true })
  const names = ['a.test.ts', 'a.wide.test.ts', 'b.property.test.ts', 'wide.test.ts', 'c.e2e.ts']
  for (const name of names) writeFileSync(join(folder, 'src/kernel', name), '')
  const [ordinary, wide] = tiersOf(folder).map((files) => files.map((path) => path.slice(11)))
  assert.deepEqual(ordinary, ['a.test.ts', 'b.property.test.ts', 'wide.test.ts'])
  assert.deepEqual(wide, ['a.wide.test.ts'])
})

test('npm test runs the ordinary tier, and CI the wide one after it', () => {
  assert.match(manifest.scripts.test, /&& npm run --silent test:files$/)
  const commands = readFileSync(join(root, '.ci/run'), 'utf8').match(/^npm (?:test|run test).*$/gm)
  assert.deepEqual(commands, ['npm test', 'npm run test:wide'])
})

test('what the threat model names is held by an ordinary file', () => {
  const rows = ['threat-model.md', 'attacks.md']
    .flatMap((name) => readFileSync(join(root, 'docs/internals', name), 'utf8').split('\n'))
    .filter((row) => row.includes('.wide.test.ts'))
  assert.deepEqual(
    rows.filter((row) => !/(?<!\.wide)\.test\.ts/.test(row)),
    [],
  )
})
