/**
 * A blob service for tests: azurite of the conformance package, on loopback and in memory. It ends with its owner.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const script = resolve(
  import.meta.dirname,
  '../../../../tests/conformance/node_modules/azurite/dist/src/blob/main.js',
)
/** Two minutes: on a busy machine it starts slowly. */
const looksMax = 2400

/** The built-in account and key of azurite, which are public. */
export const emulator = {
  account: 'devstoreaccount1',
  key: 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
} as const

export const howToGetAzurite = 'azurite is not installed: run `npm --prefix tests/conformance ci`'

export function hasAzurite(): boolean {
  return existsSync(script)
}

export interface BlobServer extends AsyncDisposable {
  readonly endpoint: string
}

export async function startAzurite(): Promise<BlobServer> {
  const port = await freePort()
  const child: ChildProcess = spawn(
    process.execPath,
    [
      script,
      '--silent',
      '--inMemoryPersistence',
      '--blobHost',
      '127.0.0.1',
      '--blobPort',
      String(port),
      '--skipApiVersionCheck',
      '--disableTelemetry',
    ],
    { stdio: 'ignore' },
  )
  const endWithUs = (): void => void child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const endpoint = `http://127.0.0.1:${port}/${emulator.account}`
  for (let looks = 0; ; looks++) {
    // Any answer will do, even a refusal.
    const answer = await fetch(endpoint).catch(() => undefined)
    if (answer !== undefined) break
    if (child.exitCode !== null) throw new Error(`Azurite ended with ${child.exitCode}.`)
    if (looks === looksMax) throw new Error('Azurite started, but gave no answer.')
    await sleep(50)
  }
  return {
    endpoint,
    async [Symbol.asyncDispose]() {
      process.off('exit', endWithUs)
      const gone = new Promise((done) => child.once('exit', done))
      child.kill('SIGKILL')
      await gone
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((done, failed) => {
    const server = createServer()
    server.once('error', failed)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => done(port))
    })
  })
}
