/**
 * A process of the comparison: started, watched, and ended by its id. It always ends with the run. The end of its
 * output is kept to explain a failure.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ProcessFigures, processTree, readFigures } from './process-figures.ts'

const outputKeptMax = 8_000
const patienceMilliseconds = 10_000

export interface Command {
  /** The program and its arguments. */
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly folder?: string
}

export class Child implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #ended: Promise<void>
  readonly startedAt: number
  #output = ''
  #gone = false

  constructor({ command, environment, folder }: Command) {
    const [program, ...rest] = command
    if (program === undefined) throw new Error('a command needs a program')
    this.startedAt = performance.now()
    this.#process = spawn(program, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
      ...(folder === undefined ? {} : { cwd: folder }),
    })
    this.#ended = new Promise((resolve) => {
      this.#process.on('error', (error) => this.#end(String(error), resolve))
      this.#process.on('exit', (code, signal) => this.#end(`ended: ${signal ?? code}`, resolve))
    })
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-outputKeptMax)
      })
    }
    process.once('exit', this.#kill)
  }

  /** Zero if it could not be started. */
  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** Throws with the end of its output if it has ended. */
  assertRunning(): void {
    if (this.#gone) throw new Error(`A server of the comparison has ended:\n${this.#output}`)
  }

  figures(): ProcessFigures | undefined {
    return readFigures(this.pid)
  }

  /** Waits until it is idle or the time is up, so that work left over from one load does not disturb the next. */
  async settle(): Promise<void> {
    const lookMilliseconds = 200
    const latest = performance.now() + patienceMilliseconds
    let before = this.figures()?.cpuMicroseconds ?? 0
    while (performance.now() < latest) {
      await sleep(lookMilliseconds)
      const now = this.figures()?.cpuMicroseconds ?? 0
      if (now - before <= lookMilliseconds * 1000 * 0.05) return
      before = now
    }
  }

  /** Asks it to end, then kills it. */
  async stop(): Promise<void> {
    const pids = processTree(this.pid)
    if (!this.#gone) this.#process.kill('SIGTERM')
    const stopped = await Promise.race([
      this.#ended.then(() => true),
      sleep(patienceMilliseconds, false, { ref: false }),
    ])
    if (!stopped) this.#kill()
    await this.#ended
    // Processes that it started may have outlived it.
    for (const pid of pids) if (pid !== this.pid && readFigures(pid) !== undefined) kill(pid)
    process.off('exit', this.#kill)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  readonly #kill = (): void => {
    if (!this.#gone) this.#process.kill('SIGKILL')
  }

  #end(words: string, resolve: () => void): void {
    this.#gone = true
    this.#output += `\n${words}`
    resolve()
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended between the check and the call, which is the aim.
  }
}
