/**
 * Runs the test files that the arguments name. A few files that fail among the others run once more, each alone
 * (decision 0052): the run fails when one fails again, and names those that passed.
 */

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** More failures than this are no accident: the files are not run again. */
const repeatedMax = 5

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'armature-tests-'))
const list = join(folder, 'failed')

/** Returns the exit code of the runner. */
function run(files: readonly string[], further: readonly string[]): Promise<number> {
  const words = ['--disable-warning=ExperimentalWarning', '--test', '--test-timeout=600000']
  const preload = ['--import', join(root, 'tests/preload.ts')]
  const shown = ['--test-reporter=spec', '--test-reporter-destination=stdout']
  const child = spawn(process.execPath, [...words, ...preload, ...shown, ...further, ...files], {
    stdio: 'inherit',
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function reporter(name: string, destination: string): readonly string[] {
  const path = join(root, 'tests', name)
  return [`--test-reporter=${path}`, `--test-reporter-destination=${destination}`]
}

async function runAll(): Promise<number> {
  const further = ['--test-concurrency=4', ...reporter('failed-files.ts', list)]
  const code = await run(process.argv.slice(2), [
    ...further,
    ...reporter('cost-reporter.ts', 'stdout'),
  ])
  if (code === 0) return code
  const failed = readFileSync(list, 'utf8')
    .split('\n')
    .filter((path) => path !== '')
  if (failed.length === 0 || failed.length > repeatedMax || failed.includes('unknown')) return code
  const passed: string[] = []
  for (const path of failed) {
    console.info(`\nFAILED, RUNS ONCE MORE ALONE: ${relative(root, path)}`)
    if ((await run([path], [])) === 0) passed.push(path)
  }
  for (const path of passed) {
    console.info(`FAILED AMONG THE OTHERS, PASSED ALONE: ${relative(root, path)}`)
  }
  return passed.length === failed.length ? 0 : code
}

try {
  process.exitCode = await runAll()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
