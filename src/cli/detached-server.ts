/**
 * `serve --detach`: runs the same command line in a process of its own, whose output goes to a file of the home.
 */

import { spawn } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { LocalProblem } from './command.ts'
import type { Home } from './home.ts'
import { printData } from './output/print.ts'
import { isAlive, isReady, logFileOf, waitUntil } from './running-server.ts'
import type { Terminal } from './terminal.ts'

const startSecondsMax = 120

/** Resolves when it answers and has what its seed makes. Throws `LocalProblem` where it ended instead, or where one runs already. */
export async function serveDetached(terminal: Terminal, home: Home): Promise<number> {
  const before = home.running()
  if (before !== undefined && isAlive(before.pid)) {
    throw new LocalProblem('AlreadyRunning', `Process ${before.pid} runs at ${before.url}.`)
  }
  mkdirSync(home.folder, { recursive: true, mode: 0o700 })
  const file = logFileOf(home)
  const log = openSync(file, 'w', 0o600)
  const words = process.argv.slice(1).filter((word) => word !== '--detach')
  const child = spawn(process.execPath, [...process.execArgv, ...words], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  })
  // It answers before its seed is there, so it says itself when it has started.
  let started = false
  child.once('message', () => {
    started = true
  })
  let ended = false
  child.once('exit', () => {
    ended = true
  })
  const isUp = await waitUntil(
    startSecondsMax,
    async () => ended || (started && (await isReady(home))),
  )
  if (ended || !isUp) {
    child.kill()
    throw new LocalProblem('StartFailed', `The server did not start; it wrote ${file}.`)
  }
  child.disconnect()
  child.unref()
  const url = home.running()?.url ?? ''
  if (terminal.output.isData) printData(terminal, { url, logFile: file })
  else terminal.out(`Armature is ready at ${url}\n`)
  terminal.error(
    `It goes on by itself: \`armature stop\` ends it, \`armature logs\` shows ${file}.\n`,
  )
  return 0
}
