/** Starts a server for a test: the launcher's `serve` in a fresh home. It ends with the test. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launcher } from '../../../tests/launcher.ts'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

export interface TestServer extends AsyncDisposable {
  readonly home: string
  readonly url: string
  /** Its output so far. */
  output(): string
  /** Sends a signal to the process and waits for its end. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  readonly process: ChildProcess
}

export async function startServer(
  environment: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const home = mkdtempSync(join(tmpdir(), 'armature-e2e-'))
  const settings = { ARMATURE_HOME: home, ARMATURE_LOG_LEVEL: 'warn', ...environment }
  const child = spawn(process.execPath, [launcher, 'serve', '--port', '0'], {
    cwd: home,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk
      const ready = /ready at (\S+)[\s\S]*armature demo/.exec(output)?.[1]
      if (ready !== undefined) resolve(ready)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    void ended.then((code) => reject(new Error(`serve ended with ${code}:\n${output}`)))
  })
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    child.kill(signal)
    return ended
  }
  return {
    home,
    url,
    process: child,
    output: () => output,
    stop,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) await stop('SIGKILL')
      rmSync(home, { recursive: true, force: true })
    },
  }
}
