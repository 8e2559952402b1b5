/**
 * Runs the test files that the arguments name, with their temporary files in memory (decision 0240) and their servers from
 * bundles (decision 0241). A few files that
 * fail among the others run once more, each alone and on the disk (decision 0052): the run fails when one fails again,
 * and names those that passed. The run ends with what the files cost, and fails when that is over its limit (decision 0068).
 */

import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { bundledLauncher } from './bundles.ts'
import { costReport, readCosts } from './cost.ts'
import budget from './cost-budget.json' with { type: 'json' }
import { groupFiles } from './groups.ts'
import { isLong } from './long.ts'

/** More failures than this are no accident: the files are not run again. */
const repeatedMax = 5

const memory = '/dev/shm'
/** Four files at once, with their databases, images and browsers. */
const memoryNeeded = 6 * 2 ** 30

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'armature-tests-'))
const list = join(folder, 'failed')
const costs = join(folder, 'costs')

const unlimited = { total: Infinity, limit: Infinity, start: Infinity, file: Infinity, files: {} }
/** The long suite has none. A test of this runner sets its own. */
const limits: typeof budget | typeof unlimited = isLong
  ? unlimited
  : { ...budget, ...JSON.parse(process.env['ARMATURE_TEST_BUDGET'] ?? '{}') }

const temporary = temporaryInMemory()

/**
 * A folder for the temporary files of all tests, since copies of database clusters cost ten times less there. Undefined
 * where the caller named a folder, or the system has no such memory, too little of it, or runs no programs in it.
 */
function temporaryInMemory(): string | undefined {
  if (process.env['TMPDIR'] !== undefined || !existsSync('/proc/mounts')) return undefined
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, where]) => where === memory)
  if (mount === undefined || (mount[3] ?? '').split(',').includes('noexec')) return undefined
  removeAbandoned()
  const { bavail, bsize } = statfsSync(memory)
  const available = /^MemAvailable: +(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]
  if (Math.min(bavail * bsize, Number(available) * 1024) < memoryNeeded) return undefined
  // A short name: sockets have paths of a hundred characters at most.
  const made = join(memory, `a-${process.pid}`)
  mkdirSync(made)
  // PostgreSQL runs as another user.
  chmodSync(made, 0o755)
  return made
}

/** A run that was killed leaves its folder, which is named after its process. */
function removeAbandoned(): void {
  for (const name of readdirSync(memory)) {
    const pid = /^a-(\d+)$/.exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) {
      spawnSync('rm', ['-rf', join(memory, name)], { stdio: 'inherit' })
    }
  }
}

/** A test may leave what cannot be removed, such as a mount. That is told by the program, and fails nothing. */
function removeTemporary(): void {
  if (temporary !== undefined) spawnSync('rm', ['-rf', temporary], { stdio: 'inherit' })
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    removeTemporary()
    process.kill(process.pid, signal)
  })
}

/** Returns the exit code of the runner. */
function run(
  files: readonly string[],
  further: readonly string[],
  env = process.env,
): Promise<number> {
  const words = ['--disable-warning=ExperimentalWarning', '--test', '--test-timeout=600000']
  const preload = ['--import', join(root, 'tests/preload.ts')]
  const shown = ['--test-reporter=spec', '--test-reporter-destination=stdout']
  const child = spawn(process.execPath, [...words, ...preload, ...shown, ...further, ...files], {
    stdio: 'inherit',
    env,
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

/** Fails for what names no file: without files, Node would run all that it finds. */
function filesOf(pattern: string): readonly string[] {
  if (existsSync(pattern)) return [pattern]
  const files = globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] })
  if (files.length === 0) throw new Error(`${pattern} names no test file.`)
  return files
}

async function runAll(): Promise<number> {
  const reporter = join(root, 'tests/failed-files.ts')
  const failures = [`--test-reporter=${reporter}`, `--test-reporter-destination=${list}`]
  writeFileSync(costs, '')
  const files = groupFiles(process.argv.slice(2).flatMap(filesOf).sort(), root, folder)
  const code = await run(files, ['--test-concurrency=4', ...failures], {
    ...process.env,
    ARMATURE_TEST_COSTS: costs,
    ...(temporary === undefined ? {} : { TMPDIR: temporary }),
  })
  return code === 0 ? code : repeatFailed(code)
}

/** Returns zero if those that failed pass alone. */
async function repeatFailed(code: number): Promise<number> {
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

// A test of this runner is given the launcher of the outer run.
process.env['ARMATURE_TEST_LAUNCHER'] ??= await bundledLauncher()
try {
  const code = await runAll()
  const { text, isFailed } = costReport(readCosts(readFileSync(costs, 'utf8')), limits)
  console.info(`\n${text}`)
  process.exitCode = code === 0 && isFailed ? 1 : code
} finally {
  removeTemporary()
  rmSync(folder, { recursive: true, force: true })
}
