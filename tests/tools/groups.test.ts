/** Which test files share a process, and that each of them is run. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { groupFiles } from '../groups.ts'

test('files of a folder share a process, but for those that could leave something behind', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'armature-groups-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const write = (path: string, text: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    return path
  }
  const passes = (name: string): string =>
    `import { test } from 'node:test'; test('${name}', () => {})`
  const one = write('src/kernel/one.test.ts', passes('first'))
  // It reads the environment, and leaves it as it was.
  const two = write(
    'src/kernel/deep/two.test.ts',
    "throw new Error(process.env['NONE'] ?? 'second')",
  )
  const alone = [
    write('src/kernel/programs.test.ts', "import 'node:child_process'"),
    write('src/kernel/hooks.test.ts', 'beforeEach(() => {})'),
    write('src/kernel/setting.test.ts', "process.env['NAME'] = 'set'"),
    write('src/kernel/settings.test.ts', 'Object.assign(process.env, {})'),
    write('src/template/only.test.ts', ''),
    write('src/plane/other.test.ts', ''),
  ]
  const made = join(root, 'src-kernel.test.mjs')
  assert.deepEqual(groupFiles([one, alone[0] ?? '', two, ...alone.slice(1)], root, root), [
    made,
    ...alone,
  ])
  assert.match(readFileSync(made, 'utf8'), /one\.test\.ts[\s\S]*two\.test\.ts/)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const words = ['--disable-warning=ExperimentalWarning', '--test', made]
  const { status, stdout } = spawnSync(process.execPath, words, { env, encoding: 'utf8' })
  assert.equal(status, 1, 'a file that cannot be loaded fails')
  assert.match(stdout, /Error: second/)
  assert.match(stdout, /pass 1/)
})
