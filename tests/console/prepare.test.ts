/** What `npm ci` does for the console in a checkout: it builds where sources are newer, and says aloud where it cannot. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const tool = join(import.meta.dirname, '..', '..', 'tools', 'console.ts')
const marker = 'sources.sha256'

test('without development dependencies the console is not built, and that is said aloud', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'armature-prepare-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['tools', 'console/src', 'src/template', 'node_modules']) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  cpSync(tool, join(root, 'tools', 'console.ts'))
  for (const file of ['package-lock.json', 'console/index.html', 'console/vite.config.ts']) {
    writeFileSync(join(root, file), '')
  }
  const prepare = () =>
    spawnSync(process.execPath, [join(root, 'tools', 'console.ts'), '--if-newer'], {
      encoding: 'utf8',
    })
  const first = prepare()
  assert.equal(first.status, 0, first.stderr)
  assert.match(first.stderr, /THE CONSOLE IS NOT BUILT: development dependencies are left out/)
  assert.equal(existsSync(join(root, 'console', 'dist', marker)), false)
})
