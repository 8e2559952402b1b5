/**
 * Runs the test files that the arguments name, with their temporary files in memory (decision 0240) and their servers from
 * bundles (decision 0241). A few files that
 * fail among the others run once more, each alone and on the disk (decision 0052): the run fails when one fails again,
 * and names those that passed. The run ends with what the files cost, and fails when that is over its limit (decision 0068).
 */

import { spawnSync } from 'node:child_process'
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
import { freemem, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { run as runFiles } from 'node:test'
import { spec } from 'node:test/reporters'
import { bundledLauncher } from './bundles.ts'
import { costReport, readCosts } from './cost.ts'
import budget from './cost-budget.json' with { type: 'json' }
import { followFailures } from './failed-files.ts'
import { groupFiles } from './groups.ts'
import { isLong } from './long.ts'
import { alwaysAtOnce, atOnceWhileIdle } from './room.ts'
import { isWide } from './tiers.ts'

/** More failures than this are no accident: the files are not run again. */
const repeatedMax = 5

/** Of a test, and of a file with all its tests. On a slow machine, where many go on at once, some take ten minutes. */
const timeout = 1_500_000

const memory = '/dev/shm'
/** A file with its databases, images and browsers. */
const bytesEach = 1.5 * 2 ** 30
const atOnceMin = 4
const atOnceMax = 12

const root = join(import.meta.dirname, '..')
// Set before a process starts, it holds the preload as well. Otherwise each process loads Node's compiler of types for
// that, which costs more than all else of a start.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/armature')
const folder = mkdtempSync(join(tmpdir(), 'armature-tests-'))
const costs = join(folder, 'costs')
const packed = join(folder, 'package')
const running = join(folder, 'running')

const unlimited = { total: Infinity, limit: Infinity, start: Infinity, file: Infinity, files: {} }
/** Of the tier that the files belong to. The long suite has none. A test of this runner sets its own. */
function limitsOf(files: readonly string[]) {
  if (isLong) return unlimited
  const tier = files.every(isWide) ? budget.tiers.wide : budget.tiers.ordinary
  return { ...budget, ...tier, ...JSON.parse(process.env['ARMATURE_TEST_BUDGET'] ?? '{}') }
}

const inMemory = bytesInMemory()
const temporary = temporaryInMemory()

const roomFor = (files: number): number =>
  Math.max(atOnceMin, Math.min(atOnceMax, files, Math.floor((inMemory ?? freemem()) / bytesEach)))

/** Undefined where the system has no such memory, or runs no programs in it. */
function bytesInMemory(): number | undefined {
  if (!existsSync('/proc/mounts')) return undefined
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, where]) => where === memory)
  if (mount === undefined || (mount[3] ?? '').split(',').includes('noexec')) return undefined
  removeAbandoned()
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, freemem())
}

/**
 * A folder for the temporary files of all tests, since copies of database clusters cost ten times less there. Undefined
 * where the caller named a folder, or too little memory is free.
 */
function temporaryInMemory(): string | undefined {
  if (process.env['TMPDIR'] !== undefined) return undefined
  if (inMemory === undefined || inMemory < atOnceMin * bytesEach) return undefined
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

/** Returns the paths of the files that failed. */
async function run(files: readonly string[], concurrency = 1): Promise<readonly string[]> {
  const preload = ['--import', join(root, 'tests/preload.ts')]
  const warnings = '--disable-warning=ExperimentalWarning'
  const events = runFiles({
    files: [...files],
    concurrency,
    timeout,
    execArgv: [warnings, `--test-timeout=${timeout}`, ...preload],
  })
  const failed = followFailures(events)
  for await (const text of events.compose(new spec())) process.stdout.write(String(text))
  return failed()
}

/** Fails for what names no file: without files, Node would run all that it finds. */
function filesOf(pattern: string): readonly string[] {
  if (existsSync(pattern)) return [pattern]
  const files = globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] })
  if (files.length === 0) throw new Error(`${pattern} names no test file.`)
  return files
}

async function runAll(named: readonly string[]): Promise<number> {
  writeFileSync(costs, '')
  mkdirSync(packed)
  mkdirSync(running)
  const files = groupFiles(named, root, folder)
  const further = {
    ARMATURE_TEST_COSTS: costs,
    ARMATURE_TEST_PACKAGE: packed,
    ARMATURE_TEST_ROOM: running,
    ARMATURE_TEST_AT_ONCE: String(roomFor(alwaysAtOnce)),
    ...(temporary === undefined ? {} : { TMPDIR: temporary }),
  }
  Object.assign(process.env, further)
  const failed = await run(longestFirst(files), roomFor(atOnceWhileIdle))
  for (const name of Object.keys(further)) delete process.env[name]
  return failed.length === 0 ? 0 : repeatFailed(failed)
}

/**
 * So that no long file runs alone at the end, while a processor is idle. Groups have no budget, and are the longest. One that
 * waits for most of its time lasts longer than its cost tells.
 */
function longestFirst(files: readonly string[]): readonly string[] {
  const lasting: Readonly<Record<string, number>> = { ...budget.files, ...budget.lasting }
  const secondsOf = (file: string): number =>
    file.endsWith('.mjs') ? Infinity : (lasting[relative(root, resolve(root, file))] ?? 0)
  return files
    .toSorted((a, b) => (secondsOf(a) === secondsOf(b) ? 0 : secondsOf(b) - secondsOf(a)))
    .map((file) => resolve(root, file))
}

/** Returns zero if those that failed pass alone. */
async function repeatFailed(failed: readonly string[]): Promise<number> {
  if (failed.length > repeatedMax || failed.includes('unknown')) return 1
  const passed: string[] = []
  for (const path of failed) {
    console.info(`\nFAILED, RUNS ONCE MORE ALONE: ${relative(root, path)}`)
    if ((await run([path])).length === 0) passed.push(path)
  }
  for (const path of passed) {
    console.info(`FAILED AMONG THE OTHERS, PASSED ALONE: ${relative(root, path)}`)
  }
  return passed.length === failed.length ? 0 : 1
}

// A test of this runner is given the launcher of the outer run.
process.env['ARMATURE_TEST_LAUNCHER'] ??= await bundledLauncher()
try {
  const named = [...new Set(process.argv.slice(2).flatMap(filesOf))].sort()
  const code = await runAll(named)
  // All of them, for whoever looks for what to make cheaper.
  const shownMax = process.env['ARMATURE_TEST_COSTS_SHOWN'] === 'all' ? Infinity : undefined
  const { text, isFailed } = costReport(
    readCosts(readFileSync(costs, 'utf8')),
    limitsOf(named),
    shownMax,
  )
  console.info(`\n${text}`)
  process.exitCode = code === 0 && isFailed ? 1 : code
} finally {
  removeTemporary()
  rmSync(folder, { recursive: true, force: true })
}
