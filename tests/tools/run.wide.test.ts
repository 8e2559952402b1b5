/** The runner of the test files: what it repeats, and what it fails for. */

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const runner = join(import.meta.dirname, '../run.ts')
const passes = `import { test } from 'node:test'; test('passes', () => {})`
const fails = `import { test } from 'node:test'; test('fails', () => { throw new Error('no') })`
const failsFirst = (mark: string): string => `
import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
test('fails once', () => {
  const again = existsSync('${mark}')
  writeFileSync('${mark}', '')
  if (!again) throw new Error('no')
})`

async function ends(
  texts: readonly string[],
  shared = '',
  more: NodeJS.ProcessEnv = {},
): Promise<{ code: number; shown: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'armature-runner-'))
  try {
    writeFileSync(join(folder, 'shared.cjs'), shared)
    const files = texts.map((text, at) => {
      const path = join(folder, `${at}.test.ts`)
      writeFileSync(path, text.replaceAll('MARK', join(folder, 'mark')))
      return path
    })
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    return await new Promise((resolve) => {
      execFile(process.execPath, [runner, ...files], { env: { ...env, ...more } }, (error, shown) =>
        resolve({ code: Number(error?.code ?? 0), shown }),
      )
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('a file that fails among the others runs once more alone, and is named', async () => {
  const { code, shown } = await ends([passes, failsFirst('MARK')])
  assert.equal(code, 0)
  assert.match(shown, /FAILED AMONG THE OTHERS, PASSED ALONE: .*1\.test\.ts/)
})

test('a file that fails again fails the run', async () => {
  const { code, shown } = await ends([fails, failsFirst('MARK')])
  assert.equal(code, 1)
  assert.match(shown, /PASSED ALONE: .*1\.test\.ts/)
  assert.doesNotMatch(shown, /PASSED ALONE: .*0\.test\.ts/)
})

test('a failure counts for the file that ran, not for the one that declares the test', async () => {
  const shared = `exports.contract = () => require('node:test').test('contract', () => { throw new Error('no') })`
  const { code, shown } = await ends(
    [`import { contract } from './shared.cjs'; contract()`],
    shared,
  )
  assert.equal(code, 1)
  assert.match(shown, /ALONE: .*0\.test\.ts/)
  assert.doesNotMatch(shown, /PASSED ALONE/)
})

test('a file that ends before its time fails', async () => {
  assert.equal((await ends(['process.exit(3)'])).code, 1)
  assert.equal((await ends([passes, `${passes}; setTimeout(() => process.exit(4), 50)`])).code, 1)
})

test('a name of no file fails, and runs nothing', () => {
  const words = [runner, 'src/none/*.test.ts']
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /names no test file/)
  assert.doesNotMatch(stdout, /tests/)
})

test('many files that fail are not run again', async () => {
  const { code, shown } = await ends([
    failsFirst('MARK'),
    ...Array.from({ length: 5 }, () => fails),
  ])
  assert.equal(code, 1)
  assert.doesNotMatch(shown, /ONCE MORE/)
})

test('a run that costs more than its limit fails', async () => {
  const limits = JSON.stringify({ limit: 0, start: 60 })
  const { code, shown } = await ends([passes], '', { ARMATURE_TEST_BUDGET: limits })
  assert.equal(code, 1)
  assert.match(shown, /THE RUN FAILS/)
})

test('temporary files of tests are removed at the end, but for a folder that the caller named', async () => {
  const tells = `import { test } from 'node:test'; import { tmpdir } from 'node:os'; import { mkdtempSync } from 'node:fs'
test('tells', (t) => t.diagnostic('in ' + mkdtempSync(tmpdir() + '/left-') + ' it was'))`
  const placeOf = async (named: string | undefined): Promise<string> => {
    const { code, shown } = await ends([tells], '', { TMPDIR: named })
    assert.equal(code, 0, shown)
    return /in (\S+) it was/.exec(shown)?.[1] ?? assert.fail(shown)
  }
  const place = await placeOf(undefined)
  // On a machine without such memory it is the system's folder, where tests clean up by themselves.
  if (place.startsWith('/dev/shm/')) assert.ok(!existsSync(place), place)
  else rmSync(place, { recursive: true })
  const named = mkdtempSync(join(tmpdir(), 'armature-runner-'))
  try {
    const kept = await placeOf(named)
    assert.ok(kept.startsWith(named) && existsSync(kept), kept)
  } finally {
    rmSync(named, { recursive: true, force: true })
  }
})

test('servers under test run bundles of the sources, which are made once', async () => {
  const tells = `import { test } from 'node:test'
test('tells', (t) => t.diagnostic('by ' + process.env.ARMATURE_TEST_LAUNCHER + ' it was'))`
  const launcherOf = async (): Promise<string> => {
    const { code, shown } = await ends([tells], '', { ARMATURE_TEST_LAUNCHER: undefined })
    assert.equal(code, 0, shown)
    return /by (\S+) it was/.exec(shown)?.[1] ?? assert.fail(shown)
  }
  const launcher = await launcherOf()
  const program = join(launcher, '../../dist/cli/run.js')
  const made = statSync(program).mtimeMs
  assert.equal(await launcherOf(), launcher)
  assert.equal(statSync(program).mtimeMs, made)
})

test('what a killed run left in memory is removed by the next one', async (t) => {
  if (!existsSync('/dev/shm')) return t.skip('no memory to keep files in')
  const left = `/dev/shm/a-${spawnSync('true').pid}`
  mkdirSync(left)
  t.after(() => rmSync(left, { recursive: true, force: true }))
  await ends([passes], '', { TMPDIR: undefined })
  assert.ok(!existsSync(left))
})
