/** The process: hands its arguments, streams and signals to the dispatcher. The launcher starts this file. */

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { readColourWish } from '../config.ts'
import { main } from './main.ts'
import { plainOutput } from './output/choose-output.ts'
import { terminalText } from './output/table.ts'
import type { Terminal } from './terminal.ts'

/** A server runs in this process; its output is not its purpose. */
let serving = false

/** What a program reads is left as it is, and so are the bytes of a shell in a container. We draw on standard error alone. */
function shown<T extends string | Uint8Array>(text: T, stream: NodeJS.WriteStream): T | string {
  if (!stream.isTTY || typeof text !== 'string') return text
  return terminalText(text, stream === process.stderr)
}

const terminal: Terminal = {
  output: plainOutput,
  out: (text) => process.stdout.write(shown(text, process.stdout)),
  error: (text) => process.stderr.write(shown(text, process.stderr)),
  interactive: process.stdout.isTTY === true,
  coloured: readColourWish() ?? (process.stdout.isTTY === true && process.stderr.isTTY === true),
  async ask(prompt) {
    if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) return undefined
    process.stderr.write(shown(prompt, process.stderr))
    const lines = createInterface({ input: process.stdin })
    for await (const line of lines) {
      lines.close()
      return line
    }
    // The end of the input is not a yes.
    return ''
  },
  async readInput() {
    let text = ''
    process.stdin.setEncoding('utf8')
    for await (const chunk of process.stdin) text += chunk
    return text
  },
  listen(callback) {
    const { stdin } = process
    let stopped = false
    if (stdin.isTTY) stdin.setRawMode(true)
    const hear = (bytes: Uint8Array): void => {
      stdin.pause()
      void callback(bytes).then(() => {
        if (!stopped) stdin.resume()
      })
    }
    const end = (): void => void callback(undefined)
    stdin.on('data', hear)
    stdin.once('end', end)
    return () => {
      stopped = true
      stdin.off('data', hear)
      stdin.off('end', end)
      if (stdin.isTTY) stdin.setRawMode(false)
      stdin.pause()
    }
  },
  size() {
    const { stdin, stdout } = process
    // Some terminals report zero lines.
    return stdin.isTTY && stdout.isTTY
      ? { rows: stdout.rows || 24, columns: stdout.columns || 80 }
      : undefined
  },
  onUnhandled(callback) {
    process.on('unhandledRejection', (error) => callback('rejection', error))
    process.on('uncaughtException', (error) => callback('exception', error))
  },
  onStop(callback) {
    serving = true
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, callback)
  },
  // Who waited may be gone: that is no error of the server.
  started: () => void process.send?.('started', undefined, undefined, () => {}),
  exit: (code) => process.exit(code),
}

// The reader of the output may stop reading (`| head`), and a disk may be full. A server continues all the same.
process.stdout.on('error', (error: Error & { readonly code?: string }) => {
  if (serving) return
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`The output cannot be written: ${error.message}\n`)
  process.exit(1)
})
// There is no other place to report it.
process.stderr.on('error', () => {})

// The package's own file, next to the sources.
const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }

process.exitCode = await main(process.argv.slice(2), terminal, { version })
